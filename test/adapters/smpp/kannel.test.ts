import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { BIND_TIMEOUT_MS } from '../../../src/adapters/smpp/smpp-session.ts';
import { aSubmission } from '../../support/builders.ts';
import { freePort } from '../../support/private-server.ts';
import { until } from '../../support/until.ts';
import { aWorld } from './open-smsc.ts';

/** The SMSC that tests Kannel. It takes binds as transmitter and as receiver only, gives no ids and sends no receipts. */
const PROGRAM = '/usr/lib/kannel/test/drive_smpp';
const MISSING = existsSync(PROGRAM) ? null : "Kannel's drive_smpp is not installed (Debian: kannel-extras)";
if (MISSING !== null && process.env.REQUIRE_SERVICES === '1') throw new Error(MISSING);

describe.skipIf(MISSING !== null)(
  MISSING === null ? 'the SMSC of Kannel' : `the SMSC of Kannel (skipped: ${MISSING})`,
  () => {
    it('the SMPP provider says that an SMSC leaves its bind without a response, and rejects as busy', async () => {
      const port = await freePort();
      const world = aWorld(port);
      const kannel = startKannel(port);
      await world.begin();
      await until(() => {
        // Until it listens.
        for (const ms of world.timers.all) if (ms !== BIND_TIMEOUT_MS) world.timers.expire(ms);
        return kannel.lines.some((line) => line.includes('Unhandled SMPP PDU'));
      });
      world.timers.expire(BIND_TIMEOUT_MS);
      const detail = `0 of 1 binds up: The SMSC did not respond to the bind`;
      await until(() => world.provider.health().detail === detail);
      expect(await world.provider.submit(aSubmission())).toEqual({
        kind: 'rejected',
        reason: 'The SMSC is not connected',
        endsChain: false,
        cause: 'busy',
      });
    });
  },
);

function startKannel(port: number): { readonly lines: readonly string[] } {
  const child = spawn(PROGRAM, ['-v', '0', '-p', `${port}`], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(child, 'exit');
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await exited;
  });
  const lines: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
  return { lines };
}
