export { Overview as default } from '../features/overview/overview.js'
