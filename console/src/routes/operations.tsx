export { Operations as default } from '../features/operations/operations.js'
