import { clearTimeout, setTimeout } from 'node:timers';
import type { ChannelProvider, Submission } from '../../src/application/ports/channel-provider.ts';
import type { CallbackRequest, ProviderCallback } from '../../src/application/ports/provider-callback.ts';
import type { ProviderEvent, ProviderEventSink } from '../../src/application/ports/provider-events.ts';
import type { SubmitResult } from '../../src/domain/providers/submit-result.ts';
import { anSmsId } from '../support/builders.ts';
import { submitAll } from '../support/submit-all.ts';
import { wholeSink } from '../support/whole-sink.ts';

/** A provider with its other side, as the contract needs it. */
export interface ProviderUnderTest {
  readonly provider: ChannelProvider;
  /** Submissions of one channel, each with the kind of result that the other side gives it; all three kinds. */
  readonly submissions: readonly { readonly submission: Submission; readonly kind: SubmitResult['kind'] }[];
  /** The smsIds of what reached the other side, as often as it did. */
  readonly carried: () => readonly string[];
  /** Lets every event that is on its way come, or come again. At least one does: a receipt of what is accepted. */
  readonly letEventsCome: () => Promise<void>;
  /** How long a submit result may take, in milliseconds. */
  readonly promptMs: number;
}

/**
 * A provider whose events come as callbacks. `bring` does what the HTTP endpoint does: it resolves with whether the events of
 * the request are committed; else the other side brings them again.
 */
export function withCallback(provider: ChannelProvider, callback: ProviderCallback) {
  let sink: ProviderEventSink | null = null;
  const { revoke } = provider;
  const started: ChannelProvider = {
    name: provider.name,
    async start(given) {
      await provider.start(given);
      sink = given;
    },
    submit: (submission) => provider.submit(submission),
    ...(revoke === undefined ? {} : { revoke: (ids: readonly string[]) => revoke.call(provider, ids) }),
    whenHandedOver: (listener) => provider.whenHandedOver(listener),
    capacity: (backlog) => provider.capacity(backlog),
    health: () => provider.health(),
    check: () => provider.check(),
    close() {
      sink = null;
      return provider.close();
    },
  };
  const bring = async (request: CallbackRequest): Promise<boolean> => {
    const content = await callback.read(request);
    if (content.kind !== 'events' || sink === null) return false;
    return sink(content.events).then(
      () => true,
      () => false,
    );
  };
  return { provider: started, bring };
}

/**
 * The promises of `ChannelProvider` that a provider breaks, in words; none for a sound one. `open` makes the provider anew, as
 * a restart does.
 */
export async function brokenPromises(open: () => ProviderUnderTest): Promise<readonly string[]> {
  const broken = new Set<string>();
  const { provider, submissions, carried, letEventsCome, promptMs } = open();
  const events: ProviderEvent[] = [];
  let isStorageAway = true;
  const sink = wholeSink(async (some) => {
    if (isStorageAway) throw new Error('The events cannot be recorded');
    events.push(...some);
  });
  await provider.start(sink);
  const given = submissions.map(({ submission }) => submission);
  const results = await submitInTime(provider, given, promptMs).catch(() => 'rejected' as const);
  if (results === 'late') broken.add('results come within the submit timeout');
  else if (results === 'rejected') broken.add('submit never rejects');
  else {
    if (results.some(({ kind }, index) => kind !== submissions[index]?.kind)) {
      broken.add('a result is that of its message');
    }
    const ids = results.map(idsOf);
    if (results.some(({ kind }, index) => kind === 'accepted' && ids[index]?.length === 0)) {
      broken.add('an accepted message has an id');
    }
    if (new Set(ids.flat()).size !== ids.flat().length) broken.add('no id is given twice');
    await letEventsCome();
    isStorageAway = false;
    await letEventsCome();
    if (events.length === 0) broken.add('events that were not recorded come again');
    const named = events.flatMap((event) => (event.kind === 'receipt' ? [event.receipt] : []));
    if (named.some(({ providerMessageId }) => !ids.flat().includes(providerMessageId))) {
      broken.add('a receipt is under an id of a submit result');
    }
    if (named.some(({ channel }) => channel !== given[0]?.channel)) broken.add('a receipt names its channel');
  }
  if (new Set(carried()).size !== carried().length) broken.add('each message is submitted once');
  if (results !== 'late' && results !== 'rejected') {
    await provider.revoke?.(results.flatMap(idsOf)).catch(() => broken.add('revoke never rejects'));
  }
  if (provider.health().detail === '') broken.add('health says how it is');
  if (results !== 'late' && results !== 'rejected') await checkRestart(open, results, broken);
  await checkClosing(open, broken);
  return [...broken];
}

/** Submits other messages after a restart. */
async function checkRestart(
  open: () => ProviderUnderTest,
  earlier: readonly SubmitResult[],
  broken: Set<string>,
): Promise<void> {
  const { provider, submissions, promptMs } = open();
  await provider.start(wholeSink(async () => {}));
  const others = submissions.map(({ submission }, index) => ({
    ...submission,
    smsId: anSmsId(1_000 + index),
  }));
  const results = await submitInTime(provider, others, promptMs).catch(() => []);
  const given = new Set(earlier.flatMap(idsOf));
  if (results !== 'late' && results.flatMap(idsOf).some((id) => given.has(id))) {
    broken.add('no id is given twice');
  }
  await provider.close().catch(() => {});
}

const idsOf = (result: SubmitResult): readonly string[] =>
  result.kind === 'rejected' ? [] : result.providerMessageIds;

async function checkClosing(open: () => ProviderUnderTest, broken: Set<string>): Promise<void> {
  await open()
    .provider.close()
    .catch(() => broken.add('close needs no start'));
  const { provider, submissions, letEventsCome, promptMs } = open();
  let late = 0;
  const sink = wholeSink(async (some) => {
    late += some.length;
  });
  await provider.start(sink);
  const given = submissions.map(({ submission }) => submission);
  await submitInTime(provider, given, promptMs).catch(() => []);
  await provider.close();
  await provider.close().catch(() => broken.add('close may be called twice'));
  await letEventsCome();
  if (late > 0) broken.add('no event comes after close');
}

/** All messages at once, as the service does. */
async function submitInTime(provider: ChannelProvider, submissions: readonly Submission[], ms: number) {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms);
  });
  const results = await Promise.race([submitAll(provider, submissions), timeout]).finally(() =>
    clearTimeout(timer),
  );
  return results;
}
