import type { RejectionClass } from '../shared/rejection-class.ts';
import type { SubmitResult } from './chain-event.ts';

/** The result of a message that the provider certainly did not take. */
export function rejectedAs(about: RejectionClass, reason: string): SubmitResult {
  const rejected = { kind: 'rejected', reason, endsChain: about === 'ends-chain' } as const;
  return about === 'message' || about === 'ends-chain' ? rejected : { ...rejected, cause: about };
}

/** The result of a message that the provider may have taken, under these ids. */
export function unknownResult(reason: string, providerMessageIds: readonly string[] = []): SubmitResult {
  return { kind: 'unknown', reason, providerMessageIds };
}
