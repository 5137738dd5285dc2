// `npm run soak -- [expiry|reader …] [options]`: what takes long to go wrong, five million expired rows and a reader that
// stays for ten minutes. CONTRIBUTING.md says when.
import { runBuilt } from './built-bench.mjs'

runBuilt('soak/main.js')
