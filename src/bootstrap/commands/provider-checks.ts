import { IN_MEMORY } from '../../adapters/knex/sqlite/file/sqlite-file.ts';
import { SystemClock } from '../../adapters/node/system-clock.ts';
import type { ProviderCheck } from '../../application/ports/channel-provider.ts';
import type { Config } from '../config/config.ts';
import { SECRET_KEY_BYTES } from '../config/config-entries.ts';
import { buildContainer } from '../container.ts';
import { resolveRoots } from '../roots.ts';
import { closeRoots, commandLogger } from './on-database.ts';

/** What one provider says about its credentials and its connection. */
export interface CheckedProvider extends ProviderCheck {
  readonly channel: string;
  readonly provider: string;
}

/** Tries the credentials of every provider of live projects, and sends nothing. */
export async function checkProviders(config: Config): Promise<readonly CheckedProvider[]> {
  const roots = resolveRoots(
    buildContainer({
      database: { kind: 'sqlite', filename: IN_MEMORY },
      queue: { kind: 'memory' },
      channels: config.channels,
      // Nothing is stored.
      secretKey: Buffer.alloc(SECRET_KEY_BYTES),
      egress: config.egress,
      clock: new SystemClock(),
      logger: commandLogger(config),
    }),
  );
  try {
    return await Promise.all(
      roots.channelProviders.live().map(async ({ channel, provider }) => {
        const { ok, isUntried, detail } = await provider.check();
        return { channel, provider: provider.name, ok, detail, ...(isUntried === true ? { isUntried } : {}) };
      }),
    );
  } finally {
    await closeRoots(roots);
  }
}
