import { describe, onTestFinished } from 'vitest';
import type { SmppProviderOptions } from '../../../src/adapters/smpp/smpp-provider.ts';
import { SMSC_MISSING, Smsc } from '../../support/smsc.ts';
import { SmppWorld } from './smpp-world.ts';

/** Tests that need the SMSC of Perl; skipped with the reason where it cannot run. */
export function describeWithSmsc(name: string, tests: () => void): void {
  describe.skipIf(SMSC_MISSING !== null)(
    SMSC_MISSING === null ? name : `${name} (skipped: ${SMSC_MISSING})`,
    tests,
  );
}

/** An SMSC that ends with the test. */
export async function startSmsc(port = 0): Promise<Smsc> {
  const smsc = await Smsc.start(port);
  onTestFinished(() => smsc.kill());
  return smsc;
}

/** A provider that is closed with the test. */
export function aWorld(port: number, given: Partial<SmppProviderOptions> = {}): SmppWorld {
  const world = new SmppWorld(port, given);
  onTestFinished(async () => {
    const closing = world.provider.close();
    world.timers.finish();
    await closing;
  });
  return world;
}

/** An SMSC, and a provider whose binds are up. */
export async function openSmsc(
  given: Partial<SmppProviderOptions> = {},
): Promise<{ readonly smsc: Smsc; readonly world: SmppWorld }> {
  const smsc = await startSmsc();
  const world = aWorld(smsc.port, given);
  await world.start(given.binds ?? 1);
  return { smsc, world };
}
