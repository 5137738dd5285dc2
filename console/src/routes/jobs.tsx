export { Jobs as default } from '../features/jobs/jobs.js'
