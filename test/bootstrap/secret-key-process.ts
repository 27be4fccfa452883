import { readConfig } from '../../src/bootstrap/config.ts';
import { secretKeyFor } from '../../src/bootstrap/secret-key.ts';

/** A first start: says that it is ready, and when told to go, which key it has. */
const config = readConfig({ DATABASE_URL: `sqlite:${process.argv[2]}` });
process.once('message', () => {
  process.send?.(secretKeyFor(config).toString('hex'), () => process.disconnect());
});
process.send?.('ready');
