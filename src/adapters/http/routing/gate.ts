import { setMaxListeners } from 'node:events';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FairGate } from '../../../application/concurrency/fair-gate.ts';
import { StorageLocked } from '../../../application/errors/storage-locked.ts';
import type { Project } from '../../../domain/access/project.ts';
import { ClientDisconnected } from '../replies/http-error.ts';
import type { HttpReply } from '../replies/http-reply.ts';
import type { RequestPermit } from './request-permit.ts';

/** Runs the work as soon as it lets the caller through. */
export type Gate<Caller> = <Result>(caller: Caller, work: () => Promise<Result>) => Promise<Result>;

/** Lets requests through by the project that calls. */
export function byProject(gate: Pick<FairGate, 'run'>): Gate<Project> {
  return ({ id }, work) => gate.run(id, work);
}

/** The gate of all requests of projects. */
export function projectGate(permit: RequestPermit): Gate<unknown> {
  return (_caller, work) => permit.throughProjectGate(work);
}

/** A request that was admitted. */
export interface Admitted<Caller> {
  readonly caller: Caller;
  readonly request: IncomingMessage;
  readonly permit: RequestPermit;
}

/**
 * Waits for a round of the event loop that has time for a request that a gate has let through. Rejects as `ClientDisconnected`
 * for a caller who leaves meanwhile, and without a round for one who left while the request was at the gate.
 */
export async function waitForRound({
  request,
  permit,
}: Pick<Admitted<unknown>, 'request' | 'permit'>): Promise<void> {
  rejectIfLeft(request);
  const round = permit.waitForRound();
  if (round === null) return;
  await round;
  rejectIfLeft(request);
}

function rejectIfLeft({ socket }: IncomingMessage): void {
  if (socket.destroyed) throw left();
}

const signals = new WeakMap<Socket, AbortSignal>();

/** Aborts as `ClientDisconnected` when the caller leaves. All requests of a connection have the same. */
export function leaving({ socket }: IncomingMessage): AbortSignal {
  const known = signals.get(socket);
  if (known !== undefined) return known;
  const controller = new AbortController();
  // One for each request that waits.
  setMaxListeners(0, controller.signal);
  signals.set(socket, controller.signal);
  if (socket.destroyed) controller.abort(left());
  else socket.once('close', () => controller.abort(left()));
  return controller.signal;
}

function left(): ClientDisconnected {
  return new ClientDisconnected('the caller left before the reply');
}

/**
 * A caller who waits at the gate, or for a round of the event loop behind it, holds a connection, not a place. Nothing is done
 * for one who has left meanwhile.
 */
export function behind<Caller>(
  gate: Gate<Caller>,
  { caller, request, permit }: Admitted<Caller>,
  work: () => Promise<HttpReply>,
): Promise<HttpReply> {
  permit.suspend();
  const opened = async () => {
    await waitForRound({ request, permit });
    permit.resume();
    try {
      return await work();
    } catch (error) {
      // The gate may try it again after a while.
      if (error instanceof StorageLocked) permit.suspend();
      throw error;
    }
  };
  return gate(caller, opened);
}
