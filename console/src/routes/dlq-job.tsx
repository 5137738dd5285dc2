export { DeadLetterDetail as default } from '../features/dead-letters/detail.js'
