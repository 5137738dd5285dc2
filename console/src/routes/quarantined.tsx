export { QuarantinedPage as default } from '../features/held/quarantined.js'
