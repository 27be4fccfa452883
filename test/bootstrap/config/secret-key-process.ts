import { readConfig } from '../../../src/bootstrap/config/config.ts';
import { secretKeyFor } from '../../../src/bootstrap/config/secret-key.ts';

/** Says that it is ready, and for each path of a database that it is told, which key a first start beside it has. */
process.on('message', (filename: string) => process.send?.(keyOrError(filename)));
process.send?.('ready');

function keyOrError(filename: string): string {
  try {
    return secretKeyFor(readConfig({ DATABASE_URL: `sqlite:${filename}` })).toString('hex');
  } catch (error) {
    return String(error);
  }
}
