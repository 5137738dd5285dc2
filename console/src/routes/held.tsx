export { Held as default } from '../features/held/held.js'
