export { OperationDetail as default } from '../features/operations/operation.js'
