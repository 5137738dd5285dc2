// `npm run bench -- [options]`: how fast it is. bench/README.md says what each row measures.
import { runBuilt } from './built-bench.mjs'

runBuilt('main.js')
