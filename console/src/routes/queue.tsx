export { QueuePage as default } from '../features/queues/queue-page.js'
