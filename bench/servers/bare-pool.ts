import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { serve } from '../../test/support/child-process.ts';

/** What a POST costs with nothing around it: a bare Pool, and as many loops as it has connections. */
const { POOL_URL = '', POOL_CA = '', POOL_CONNECTIONS = '' } = process.env;
const url = new URL(POOL_URL);
const connections = Number(POOL_CONNECTIONS);
const pool = new Pool(url.origin, {
  connections,
  pipelining: 1,
  connect: { ca: readFileSync(POOL_CA) },
});

interface Requests {
  readonly count: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const handlers = {
  /** Sends that many requests, and resolves with the seconds they took. */
  post: async ({ count, headers, body }: Requests): Promise<number> => {
    const startedAt = performance.now();
    let begun = 0;
    const loop = async (): Promise<void> => {
      while (begun < count) {
        begun += 1;
        const response = await pool.request({ path: url.pathname, method: 'POST', headers, body });
        await response.body.dump();
        if (response.statusCode !== 200) throw new Error(`The receiver responded ${response.statusCode}`);
      }
    };
    await Promise.all(Array.from({ length: connections }, loop));
    return (performance.now() - startedAt) / 1000;
  },
};
export type BarePoolHandlers = typeof handlers;

serve(0, handlers);
process.on('SIGTERM', () => process.disconnect());
