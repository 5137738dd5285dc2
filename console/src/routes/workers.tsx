export { Workers as default } from '../features/workers/workers.js'
