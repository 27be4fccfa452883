import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MessageFilter, SearchMessages } from '../../../src/application/operators/search-messages.ts';
import { TraceMessage } from '../../../src/application/operators/trace-message.ts';
import { holdEntry, settlementEntry } from '../../../src/domain/billing/ledger.ts';
import { iqd } from '../../../src/domain/shared/money.ts';
import { type ApplicationWorld, aSeedProject, openApplication } from '../../support/application-world.ts';
import {
  aMessage,
  anId,
  aPhoneNumber,
  aProject,
  aWebhookEvent,
  NOW,
  PROJECT_ID,
} from '../../support/builders.ts';

const OTHER_PROJECT = anId(9);
const OTHER_NUMBER = aPhoneNumber('9647507654321');
/** The id of a message that was made so many seconds after `NOW`: without a project ids tell the time. */
const idAt = (seconds: number) =>
  `sms-${(NOW + 1_000 * seconds).toString(16).padStart(12, '0')}${'0'.repeat(12)}`;

const none = { rejection: { kind: 'message-not-found' } };

describe('messages, for operators', () => {
  let world: ApplicationWorld;

  /** Messages 1 to 4, a second apart: the second failed, the third has another number, the fourth another project. */
  beforeEach(async () => {
    const other = aProject({ id: OTHER_PROJECT, slug: 'other', settings: { rateLimit: null } });
    world = await openApplication({ projects: [aSeedProject(), aSeedProject({ project: other })] });
    const at = (seconds: number) => ({ smsId: idAt(seconds), createdAt: NOW + 1_000 * seconds });
    await world.unitOfWork.run(({ messages }) =>
      messages.insert([
        aMessage(at(1)),
        aMessage({ ...at(2), status: 'failed', isFinal: true }),
        aMessage({ ...at(3), phoneNumber: OTHER_NUMBER }),
        aMessage({ ...at(4), projectId: OTHER_PROJECT }),
      ]),
    );
  });
  afterEach(() => world.close());

  const search = async (filter: Partial<MessageFilter>, limit = 10) => {
    const any = { project: null, phoneNumber: null, status: null, from: NOW, to: NOW + 60_000 };
    const page = await world.container.get(SearchMessages).page({ ...any, ...filter }, null, limit);
    return { ids: page.rows.map(({ smsId }) => smsId), next: page.next };
  };
  const ids = (...numbers: number[]) => numbers.map(idAt);

  it('messages are found by project, number and status, each alone and together, the newest first', async () => {
    expect((await search({ project: 'demo' })).ids).toEqual(ids(3, 2, 1));
    expect((await search({ project: OTHER_PROJECT })).ids).toEqual(ids(4));
    expect((await search({ phoneNumber: aPhoneNumber() })).ids).toEqual(ids(4, 2, 1));
    expect((await search({ project: 'demo', phoneNumber: aPhoneNumber() })).ids).toEqual(ids(2, 1));
    expect((await search({})).ids).toEqual(ids(4, 3, 2, 1));
    expect((await search({ status: 'failed' })).ids).toEqual(ids(2));
    expect((await search({ project: 'demo', status: 'failed' })).ids).toEqual(ids(2));
    expect((await search({ project: 'other', status: 'failed' })).ids).toEqual([]);
    await expect(search({ project: 'none' })).rejects.toMatchObject({
      rejection: { kind: 'project-not-found' },
    });
  });

  it('a page of messages ends at its limit, and the next one begins behind its last message', async () => {
    const filter = { project: 'demo', phoneNumber: null, status: null, from: NOW, to: NOW + 60_000 };
    const useCase = world.container.get(SearchMessages);
    const first = await useCase.page(filter, null, 2);
    expect(first.next).toEqual({ createdAt: NOW + 2_000, smsId: idAt(2) });
    expect((await useCase.page(filter, first.next, 2)).rows.map(({ smsId }) => smsId)).toEqual(ids(1));
  });

  it('only messages between two instants are found, both included', async () => {
    expect((await search({ project: 'demo', from: NOW + 2_000, to: NOW + 2_000 })).ids).toEqual(ids(2));
    expect((await search({ project: 'demo', from: NOW + 2_001 })).ids).toEqual(ids(3));
  });

  it('a trace has the message, its ledger entries, and its webhook events with their attempts', async () => {
    const smsId = idAt(1);
    const occurrence = { projectId: PROJECT_ID, reference: smsId, at: NOW };
    const hold = holdEntry(occurrence, iqd(80));
    const settlement = settlementEntry(occurrence, iqd(80), iqd(60));
    const event = (id: string, orderingKey = smsId) =>
      aWebhookEvent({ id, orderingKey, body: `{"id":"${id}"}` });
    const attempt = (eventId: string, attemptNumber: number) => ({
      orderingKey: smsId,
      eventId,
      attemptNumber,
      startedAt: NOW + attemptNumber,
      durationMs: 5,
      status: 503,
      error: 'HTTP 503',
      response: null,
    });
    await world.unitOfWork.run(async ({ ledger, webhookEvents, webhookAttempts }) => {
      await ledger.post([hold]);
      await ledger.post([settlement, holdEntry({ ...occurrence, reference: idAt(2) }, iqd(80))]);
      await webhookEvents.insert([event(anId(1)), event(anId(2)), event(anId(3), idAt(2))]);
      await webhookAttempts.insert([attempt(anId(1), 1), attempt(anId(1), 2), attempt(anId(2), 1)]);
    });

    const trace = await world.container.get(TraceMessage).execute(smsId);
    expect(trace.message).toEqual(aMessage({ smsId, createdAt: NOW + 1_000 }));
    expect(trace.entries).toEqual([hold, settlement]);
    expect(trace.events.map(({ event: { id }, body, attempts }) => ({ id, body, attempts }))).toEqual([
      { id: anId(1), body: `{"id":"${anId(1)}"}`, attempts: [attempt(anId(1), 2), attempt(anId(1), 1)] },
      { id: anId(2), body: `{"id":"${anId(2)}"}`, attempts: [attempt(anId(2), 1)] },
    ]);
    expect(trace.events[0]?.event).not.toHaveProperty('body');
  });

  it('the trace of a message without events and entries has neither, and one of no message is rejected', async () => {
    const traceMessage = world.container.get(TraceMessage);
    expect(await traceMessage.execute(idAt(4))).toMatchObject({
      message: { smsId: idAt(4), projectId: OTHER_PROJECT },
      entries: [],
      events: [],
    });
    await expect(traceMessage.execute(idAt(5))).rejects.toMatchObject(none);
    await expect(traceMessage.execute('x')).rejects.toMatchObject(none);
  });
});
