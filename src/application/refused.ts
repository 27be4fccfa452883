import type { SendRefusal } from '../domain/messages/send-policy.ts';

/** Everything the service says no to, apart from a request that is not well formed. */
export type Refusal =
  | SendRefusal
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'ip-not-allowed' }
  | { readonly kind: 'message-not-found' }
  | { readonly kind: 'idempotency-conflict' }
  | { readonly kind: 'webhook-url-refused' }
  | { readonly kind: 'overloaded' };

/**
 * The one exception of this layer: it carries a refusal out of a use case and undoes the unit of work it
 * happened in. Everything else that is thrown is a fault of the program or of its surroundings.
 */
export class Refused extends Error {
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.kind);
    this.name = 'Refused';
    this.refusal = refusal;
  }
}
