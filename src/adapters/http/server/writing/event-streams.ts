import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { clearInterval, setInterval } from 'node:timers';
import type { EventStreamReply, ServerSentEvent } from '../../replies/http-reply.ts';

const HEARTBEAT = ': heartbeat\n\n';
/** The number of heartbeats after which a reader that takes nothing is disconnected. */
const STALLED_HEARTBEATS_MAX = 2;
const LINE_END = /\r\n|\r|\n/;
const UNSAFE_IN_FIELDS = /[\r\n\0]/g;

/** The open event streams of a server. */
export class EventStreams {
  readonly #heartbeatMs: number;
  readonly #open = new Set<AbortController>();
  #closed = false;

  constructor(heartbeatMs: number) {
    this.#heartbeatMs = heartbeatMs;
  }

  /** Ends every stream, and from now on each new one at once: its reply is complete, and the client connects again. */
  endAll(): void {
    this.#closed = true;
    for (const stream of this.#open) stream.abort();
  }

  /**
   * Writes events until the source ends, the client leaves or stalls, or `endAll` is called. Comments in between
   * keep proxies from closing a quiet connection. Rejects when the source fails; the response has ended then too.
   */
  async run(response: ServerResponse, events: EventStreamReply['events']): Promise<void> {
    const stream = new AbortController();
    if (this.#closed) stream.abort();
    this.#open.add(stream);
    response.once('close', () => stream.abort());
    const stopHeartbeats = startHeartbeats(response, this.#heartbeatMs);
    try {
      // The head goes out now, not with the first event.
      response.flushHeaders();
      if (!stream.signal.aborted) await copy(events(stream.signal), response, stream.signal);
    } finally {
      stopHeartbeats();
      stream.abort();
      this.#open.delete(stream);
      response.end();
    }
  }
}

/** One event is asked for at a time, and only when the client has taken those before. */
async function copy(
  events: AsyncIterable<ServerSentEvent>,
  response: ServerResponse,
  signal: AbortSignal,
): Promise<void> {
  const iterator = events[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = await unlessAborted(iterator.next(), signal);
      if (next === null || next.done === true) return;
      if (!response.write(frameOf(next.value))) await unlessAborted(once(response, 'drain'), signal);
    }
  } finally {
    // A source that waits for something else is told by the signal, and need not be waited for.
    iterator.return?.().catch(() => undefined);
  }
}

/** The value of the promise, or null when the signal is aborted first. */
function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  return new Promise((resolve, reject) => {
    const stop = (): void => resolve(null);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', stop));
  });
}

function startHeartbeats(response: ServerResponse, heartbeatMs: number): () => void {
  let stalled = 0;
  response.on('drain', () => {
    stalled = 0;
  });
  const timer = setInterval(() => {
    if (!response.writableNeedDrain) response.write(HEARTBEAT);
    else if (++stalled >= STALLED_HEARTBEATS_MAX) response.destroy();
  }, heartbeatMs);
  return () => clearInterval(timer);
}

/** An event as it goes over the wire. */
export function frameOf({ data, event, id, retryMs }: ServerSentEvent): string {
  const lines = data.split(LINE_END).map((line) => `data: ${line}`);
  if (event !== undefined) lines.unshift(`event: ${event.replaceAll(UNSAFE_IN_FIELDS, '')}`);
  if (id !== undefined) lines.unshift(`id: ${id.replaceAll(UNSAFE_IN_FIELDS, '')}`);
  if (retryMs !== undefined) lines.unshift(`retry: ${retryMs}`);
  return `${lines.join('\n')}\n\n`;
}
