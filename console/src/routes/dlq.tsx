export { DeadLetters as default } from '../features/dead-letters/dead-letters.js'
