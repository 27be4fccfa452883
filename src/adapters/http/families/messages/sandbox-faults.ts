import type { Project } from '../../../../domain/access/project.ts';
import type { RequestOutcome } from '../../../../domain/sandbox/sandbox-outcomes.ts';
import { requestOutcomeOf } from '../../../../domain/sandbox/sandbox-send.ts';
import type { PhoneNumber } from '../../../../domain/shared/phone-number.ts';
import { ClientDisconnected, RequestRejected } from '../../replies/http-error.ts';
import type { HttpReply } from '../../replies/http-reply.ts';
import { INTERNAL_ERROR } from '../../replies/known-errors.ts';
import { isReplay } from '../../routing/idempotency.ts';
import type { Input } from '../../routing/route-declaration.ts';
import type { SendBody } from './send-body.ts';

/** Resolves after `ms` milliseconds. */
export type Wait = (ms: number) => Promise<void>;

type SendHandler<Params, Query, Reply> = (input: Input<Project, Params, Query, SendBody>) => Promise<Reply>;

/**
 * Adds to a send what test numbers do to its HTTP reply: a 500, a late reply or a cut connection. The message of
 * the last two is accepted before; the replay of a request with an Idempotency-Key is not disturbed. The 500 is no fault
 * of the service: a rejection costs the log no stack.
 */
export function withSandboxFaults<Params, Query, Reply extends HttpReply>(
  send: SendHandler<Params, Query, Reply>,
  wait: Wait,
): SendHandler<Params, Query, Reply> {
  return (input) => {
    const outcome = requestOutcomeOf(input.caller, input.body.phoneNumber as PhoneNumber);
    return outcome === null ? send(input) : disturb(input, outcome);
  };

  async function disturb(
    input: Input<Project, Params, Query, SendBody>,
    outcome: RequestOutcome,
  ): Promise<Reply> {
    if (outcome.kind === 'internal-error') throw new RequestRejected(INTERNAL_ERROR);
    const reply = await send(input);
    if (isReplay(reply)) return reply;
    if (outcome.kind === 'slow-reply') await input.withoutPlace(() => wait(outcome.delayMs));
    if (outcome.kind === 'cut-connection') {
      input.request.socket.destroy();
      throw new ClientDisconnected('the test number asked for it');
    }
    return reply;
  }
}
