import { describe, expect, it } from 'vitest';
import type { MessageNews } from '../../../src/application/messages/advance-messages.ts';
import type { RecordNews } from '../../../src/application/messages/record-news.ts';
import { SubmitSteps } from '../../../src/application/messages/submit-steps.ts';
import { aMessage, anSmsId, aProject, aStep, NOW, SECOND_MS } from '../../support/builders.ts';
import { RecordingLogger } from '../../support/recording-logger.ts';

const STEP_TIMEOUT_MS = 30 * SECOND_MS;

/** What reaches the channel, and what is recorded, when the step is submitted `lateMs` after it was committed. */
async function submittedAfter(lateMs: number, submit: () => Promise<never[]> = async () => []) {
  const reached: string[] = [];
  const recorded: MessageNews[] = [];
  const recordNews: Pick<RecordNews, 'execute'> = {
    async execute(news) {
      recorded.push(...news);
    },
  };
  const logger = new RecordingLogger();
  const submitSteps = new SubmitSteps({
    recordNews: recordNews as RecordNews,
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
    stepTimeoutMs: STEP_TIMEOUT_MS,
    steps: [aStep({ startedAt: NOW })],
  });
  await submitSteps.execute([{ message, step: 0 }], new Map([[project.id, project]]));
  return { reached, recorded };
}

describe('SubmitSteps', () => {
  it('hands a step over until its time is over, and not after', async () => {
    expect((await submittedAfter(STEP_TIMEOUT_MS - 1)).reached).toEqual([anSmsId(1)]);
    expect(await submittedAfter(STEP_TIMEOUT_MS)).toEqual({ reached: [], recorded: [] });
  });

  it('records that the outcome is unknown when the channel throws, or answers too little', async () => {
    const thrown = await submittedAfter(0, async () => {
      throw new Error('broken');
    });
    const silent = await submittedAfter(0);
    for (const { recorded } of [thrown, silent]) {
      expect(recorded).toMatchObject([
        { smsId: anSmsId(1), event: { kind: 'answered', step: 0, answer: { kind: 'unknown' } } },
      ]);
    }
  });
});
