export { Archive as default } from '../features/archive/archive.js'
