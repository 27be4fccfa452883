import type { ProviderEvent } from './provider-events.ts';

/** A request that a provider makes to this service, before anything in it is believed. */
export interface CallbackRequest {
  readonly method: 'GET' | 'POST';
  readonly query: URLSearchParams;
  /** By name in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Buffer;
}

/**
 * What a request of a provider turned out to be. `events`: it is the provider's; `malformed` counts items in it that could
 * not be read, which never spoil the others. `challenge`: the provider asks whether this is the right service, and wants
 * `text` back. `forged`: it is not from the provider. `unreadable`: it is from the provider, and makes no sense.
 */
export type CallbackContent =
  | { readonly kind: 'events'; readonly events: readonly ProviderEvent[]; readonly malformed: number }
  | { readonly kind: 'challenge'; readonly text: string }
  | { readonly kind: 'forged' }
  | { readonly kind: 'unreadable'; readonly problem: string };

/** Reads what a provider sends to `/callbacks/{provider}`: delivery receipts and inbound messages. */
export interface ProviderCallback {
  /** Compares signatures and tokens in constant time. Rejects only when the storage is away. */
  read(request: CallbackRequest): Promise<CallbackContent>;
}

/** The callbacks of the providers that have one. */
export interface ProviderCallbacks {
  /** Null for an unknown name, and for a provider that sends none. */
  of(provider: string): ProviderCallback | null;
}
