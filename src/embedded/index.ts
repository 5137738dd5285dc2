export { EmbeddedError } from './embedded-error.js'
export { type EmbeddedDatabase, type EmbeddedOptions, startEmbedded } from './start-embedded.js'
