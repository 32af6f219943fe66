// `gw` from the checkout, for tests that talk to it over its standard streams.
import { main } from '../../cli/main.ts';

await main(process.argv.slice(2));
