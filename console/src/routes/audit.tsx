export { Audit as default } from '../features/audit/audit.js'
