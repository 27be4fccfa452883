import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { serve } from '../child.mjs';

/** What posting costs without anything around it: a bare Pool, and as many loops as it has connections. */
const { POOL_URL, POOL_CA, POOL_CONNECTIONS } = process.env;
const url = new URL(POOL_URL);
const pool = new Pool(url.origin, {
  connections: Number(POOL_CONNECTIONS),
  pipelining: 1,
  connect: { ca: readFileSync(POOL_CA) },
});

/** Posts that often, and resolves with the seconds it took. */
async function post({ count, headers, body }) {
  const startedAt = performance.now();
  let begun = 0;
  const loop = async () => {
    while (begun < count) {
      begun += 1;
      const answer = await pool.request({ path: url.pathname, method: 'POST', headers, body });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`Answered ${answer.statusCode}`);
    }
  };
  await Promise.all(Array.from({ length: Number(POOL_CONNECTIONS) }, loop));
  return (performance.now() - startedAt) / 1000;
}

serve(0, { post });
process.on('SIGTERM', () => process.disconnect());
