import type { SendRejection } from '../domain/messages/send-policy.ts';
import type { TestNumberRejected } from '../domain/sandbox/sandbox-send.ts';

/** Everything the service says no to, apart from a request that is not well formed. */
export type Rejection =
  | SendRejection
  | TestNumberRejected
  | { readonly kind: 'unauthorized' }
  | { readonly kind: 'ip-not-allowed' }
  | { readonly kind: 'message-not-found' }
  | { readonly kind: 'idempotency-conflict' }
  | { readonly kind: 'webhook-url-refused' }
  | { readonly kind: 'overloaded' };

/**
 * The one exception of this layer: it carries a rejection out of a use case and undoes the unit of work it
 * happened in. Everything else that is thrown is a fault of the program or of its surroundings.
 */
export class Rejected extends Error {
  readonly rejection: Rejection;

  constructor(rejection: Rejection) {
    super(rejection.kind);
    this.name = 'Rejected';
    this.rejection = rejection;
  }
}
