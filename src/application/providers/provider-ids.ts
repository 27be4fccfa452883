import type { SubmitResult } from '../../domain/providers/submit-result.ts';
import { delegate } from '../delegate.ts';
import type { ChannelProvider } from '../ports/channel-provider.ts';
import type { ProviderCallback } from '../ports/provider-callback.ts';
import type { ProviderEvent } from '../ports/provider-events.ts';

/** Ends the name of a provider, in which it cannot occur. */
const NAME_END = ':';

/**
 * The same provider, whose message ids begin with its name: in submit results, receipts and revocations. So the ids of two
 * providers are never the same, and it passes over the revocations of others.
 */
export function withPrefixedIds(provider: ChannelProvider): ChannelProvider {
  const { name } = provider;
  const revoke = async (providerMessageIds: readonly string[]): Promise<void> => {
    const prefix = prefixOf(name);
    const own = providerMessageIds.filter((id) => id.startsWith(prefix)).map((id) => id.slice(prefix.length));
    if (own.length > 0) await provider.revoke?.(own);
  };
  return delegate(provider, {
    start: (sink) => provider.start((events, settled) => sink(prefixedEvents(name, events), settled)),
    submit: async (submission) => prefixedResult(name, await provider.submit(submission)),
    ...(provider.revoke === undefined ? {} : { revoke }),
  });
}

/** The provider that a message id in stored form comes from; empty for the simulator, whose ids have no name. */
export function providerOf(providerMessageId: string): string {
  return providerMessageId.slice(0, Math.max(0, providerMessageId.indexOf(NAME_END)));
}

/** The callback of the provider `name`, whose events come under the ids that its submit results have. */
export function withPrefixedEvents(name: string, callback: ProviderCallback): ProviderCallback {
  return {
    async read(request) {
      const content = await callback.read(request);
      return content.kind === 'events'
        ? { ...content, events: prefixedEvents(name, content.events) }
        : content;
    },
  };
}

function prefixedResult(name: string, result: SubmitResult): SubmitResult {
  if (result.kind === 'rejected') return result;
  const providerMessageIds = prefixedIds(name, result.providerMessageIds);
  return result.kind === 'accepted'
    ? { kind: 'accepted', providerMessageIds }
    : { ...result, providerMessageIds };
}

function prefixedEvents(name: string, events: readonly ProviderEvent[]): readonly ProviderEvent[] {
  return events.map((event) => {
    switch (event.kind) {
      case 'receipt': {
        const { receipt } = event;
        const providerMessageId = prefixOf(name) + receipt.providerMessageId;
        return { kind: 'receipt', receipt: { ...receipt, providerMessageId } };
      }
      case 'accepted': {
        const { acceptance } = event;
        const providerMessageIds = prefixedIds(name, acceptance.providerMessageIds);
        return { kind: 'accepted', acceptance: { ...acceptance, providerMessageIds } };
      }
      case 'inbound':
        return event;
      default:
        return event satisfies never;
    }
  });
}

function prefixedIds(name: string, ids: readonly string[]): readonly string[] {
  return ids.map((id) => prefixOf(name) + id);
}

function prefixOf(provider: string): string {
  return provider + NAME_END;
}
