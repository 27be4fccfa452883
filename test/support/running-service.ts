import { expect, onTestFinished } from 'vitest';
import { messageOf } from '../../src/application/errors/error-text.ts';
import { type Harness, type HarnessOptions, startHarness } from '../../src/bootstrap/harness/harness.ts';
import { documentedReplies } from './documented-replies.ts';

/** A harness that is closed after the test, and fails it when a reply was not as documented. */
export async function startService(options: HarnessOptions = {}): Promise<Harness> {
  const problems: string[] = [];
  let check: ReturnType<typeof documentedReplies> | null = null;
  let checkAdmin: ReturnType<typeof documentedReplies> | null = null;
  const harness = await startHarness({
    ...options,
    observeReply: (seen) => {
      const { openApi, adminOpenApi } = harness.service.http;
      check ??= documentedReplies(openApi);
      checkAdmin ??= adminOpenApi === null ? null : documentedReplies(adminOpenApi);
      try {
        if (seen.route?.startsWith('/admin') === true) checkAdmin?.(seen);
        else check(seen);
      } catch (error) {
        problems.push(messageOf(error));
      }
    },
  });
  onTestFinished(async () => {
    await harness.close();
    expect(problems).toEqual([]);
  });
  return harness;
}
