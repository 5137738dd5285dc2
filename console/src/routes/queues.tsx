export { Queues as default } from '../features/queues/queues.js'
