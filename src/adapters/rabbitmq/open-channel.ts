import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { withDeadline } from './deadline.ts';
import { limitProperties } from './property-limit.ts';

/**
 * A peer that stays silent for two of these is gone, and its messages go to others: a frozen worker must not hold codes for
 * longer than three seconds. Nothing here holds an event loop for a tenth of that, and a reconnection costs little.
 */
const HEARTBEAT_SECONDS = 1;

/** Time for one exchange of the handshake. */
export const CONNECT_TIMEOUT_MS = 3_000;

/** Time until a channel is usable: handshake, declarations, subscription. */
const OPEN_TIMEOUT_MS = 5_000;

/** Time for the broker's goodbye. */
export const CLOSE_TIMEOUT_MS = 2_000;

export interface OpenChannelOptions {
  readonly url: string;
  /** Shown by the broker beside the connection. */
  readonly name: string;
  /** Prepares the channel; the channel counts as open once this resolved. */
  readonly prepare: (channel: ConfirmChannel) => Promise<void>;
  /** Called when the broker takes no more messages. */
  readonly onBlocked?: ((reason: string) => void) | undefined;
  /** Ends the connection, open or not, without a goodbye. */
  readonly signal: AbortSignal;
}

/** An open channel and its connection. The end of either ends both. */
export interface OpenChannel {
  readonly channel: ConfirmChannel;
  /** Resolves with the reason when the channel is over. Never rejects. */
  readonly ended: Promise<Error>;
  /** Why the broker takes no messages at the moment, or null when it does. */
  blocked(): string | null;
  /** Ends the connection at once. */
  drop(reason: Error): void;
  /** Ends it when everything written on the channel has been taken, or the broker does not respond. */
  close(): Promise<void>;
}

/** Rejects when the broker rejects the connection, is away or does not respond in time; then nothing stays open. */
export async function openChannel(options: OpenChannelOptions): Promise<OpenChannel> {
  const socket = new AbortController();
  try {
    return await withDeadline(establish(options, socket), OPEN_TIMEOUT_MS, 'The broker does not respond');
  } catch (error) {
    socket.abort();
    throw error;
  }
}

async function establish(options: OpenChannelOptions, socket: AbortController): Promise<OpenChannel> {
  const socketOptions = {
    timeout: CONNECT_TIMEOUT_MS,
    noDelay: true,
    clientProperties: { connection_name: options.name },
    // Without it a half-open socket would live minutes longer and keep the process alive.
    signal: AbortSignal.any([socket.signal, options.signal]),
  };
  const model = await connect(withHeartbeat(options.url), socketOptions);
  limitProperties(model.connection);
  let isClosing = false;
  let blockedReason: string | null = null;
  let end: (reason: Error) => void = () => {};
  const ended = new Promise<Error>((resolve) => {
    end = resolve;
  });
  const drop = (reason: Error): void => {
    end(reason);
    socket.abort();
  };
  model.on('error', drop);
  model.on('close', (error) => drop(error ?? new Error('The connection was closed')));
  model.on('blocked', (reason) => {
    blockedReason = reason;
    options.onBlocked?.(reason);
  });
  model.on('unblocked', () => {
    blockedReason = null;
  });
  const channel = await model.createConfirmChannel();
  channel.on('error', drop);
  channel.on('close', () => {
    if (!isClosing) drop(new Error('The channel was closed'));
  });
  await options.prepare(channel);
  return {
    channel,
    ended,
    blocked: () => blockedReason,
    drop,
    close: async () => {
      isClosing = true;
      const reason = 'The broker did not say goodbye';
      await withDeadline(sayGoodbye(model, channel), CLOSE_TIMEOUT_MS, reason).catch(() => undefined);
      drop(new Error('closed'));
    },
  };
}

/** The broker confirms the close of a channel after everything sent on it: no acknowledgement is lost after that. */
async function sayGoodbye(model: ChannelModel, channel: ConfirmChannel): Promise<void> {
  await channel.close();
  await model.close();
}

function withHeartbeat(url: string): string {
  const address = new URL(url);
  if (!address.searchParams.has('heartbeat')) {
    address.searchParams.set('heartbeat', String(HEARTBEAT_SECONDS));
  }
  return address.href;
}
