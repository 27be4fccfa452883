import { describe, expect, it } from 'vitest';
import type { MessageEvent } from '../../../src/application/messages/advance-messages.ts';
import type { ApplyMessageEvents } from '../../../src/application/messages/apply-message-events.ts';
import { SubmitAttempts } from '../../../src/application/messages/submit-attempts.ts';
import { aMessage, anSmsId, aProject, aStep, NOW, SECOND_MS } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const STEP_TIMEOUT_MS = 30 * SECOND_MS;

/** What reaches the channel, and what is recorded, when the attempt is submitted `lateMs` after it was committed. */
async function submittedAfter(lateMs: number, submit: () => Promise<never[]> = async () => []) {
  const reached: string[] = [];
  const recorded: MessageEvent[] = [];
  const applyMessageEvents: Pick<ApplyMessageEvents, 'execute'> = {
    async execute(news) {
      recorded.push(...news);
    },
  };
  const logger = new RecordingLogger();
  const submitAttempts = new SubmitAttempts({
    applyMessageEvents: applyMessageEvents as ApplyMessageEvents,
    clock: { now: () => NOW + lateMs },
    logger,
    channelProviders: {
      of: () => ({
        submit(submissions) {
          reached.push(...submissions.map(({ smsId }) => smsId));
          return submit();
        },
      }),
    },
  });
  const project = aProject();
  const message = aMessage({
    smsId: anSmsId(1),
    attemptTimeoutMs: STEP_TIMEOUT_MS,
    attempts: [aStep({ startedAt: NOW })],
  });
  await submitAttempts.execute([{ message, attemptNumber: 0 }], new Map([[project.id, project]]));
  return { reached, recorded };
}

describe('SubmitAttempts', () => {
  it('hands a attemptNumber over until its time is over, and not after', async () => {
    expect((await submittedAfter(STEP_TIMEOUT_MS - 1)).reached).toEqual([anSmsId(1)]);
    expect(await submittedAfter(STEP_TIMEOUT_MS)).toEqual({ reached: [], recorded: [] });
  });

  it('records that the outcome is unknown when the channel throws, or results too little', async () => {
    const thrown = await submittedAfter(0, async () => {
      throw new Error('broken');
    });
    const silent = await submittedAfter(0);
    for (const { recorded } of [thrown, silent]) {
      expect(recorded).toMatchObject([
        { smsId: anSmsId(1), event: { kind: 'submitted', attemptNumber: 0, result: { kind: 'unknown' } } },
      ]);
    }
  });
});
