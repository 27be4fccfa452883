import { Socket } from 'node:net';
import { beforeEach, expect, it } from 'vitest';
import { UnreadConnections } from '../../../../../src/adapters/http/server/connections/unread-connections.ts';
import { MINUTE_LOG_INTERVAL_MS, MinuteLog } from '../../../../../src/application/minute-log.ts';
import { NOW } from '../../../../support/builders.ts';
import { RecordingLogger } from '../../../../support/recording-logger.ts';

const BYTES_MAX = 100;

let now: number;
let logger: RecordingLogger;
let unread: UnreadConnections;
let sockets: Socket[];

beforeEach(() => {
  now = NOW;
  logger = new RecordingLogger();
  unread = new UnreadConnections(BYTES_MAX, new MinuteLog({ clock: { now: () => now }, logger }));
  sockets = Array.from({ length: 5 }, () => new Socket());
});

function hold(index: number, bytes: number, network = 'a', moves = false): void {
  unread.hold(sockets[index] as Socket, bytes, network, moves);
}
const closed = () => sockets.flatMap(({ destroyed }, index) => (destroyed ? [index] : []));

it('no connection is closed while all of them hold as much as they may', () => {
  hold(0, 60);
  hold(1, 40, 'b');
  expect([closed(), unread.bytes]).toEqual([[], BYTES_MAX]);
});

it('beyond the limit the connection of the heaviest address is closed on which nothing has moved for longest', () => {
  hold(0, 30, 'light');
  hold(1, 20, 'heavy');
  hold(2, 20, 'heavy');
  hold(3, 20, 'heavy');
  hold(1, 20, 'heavy', true);
  hold(4, 20, 'heavy');
  expect([closed(), unread.bytes]).toEqual([[2], 90]);
});

it('a connection with one more reply is not taken for one whose client reads', () => {
  hold(0, 20);
  hold(1, 20);
  hold(0, 30);
  hold(2, 60);
  expect(closed()).toEqual([0]);
});

it('a new connection is not closed for what others hold, though its address is the heaviest', () => {
  hold(0, 30, 'a');
  hold(1, 30, 'b');
  hold(2, 50, 'new');
  expect([closed(), unread.bytes]).toEqual([[0], 80]);
});

it('as many connections are closed as it takes', () => {
  hold(0, 30);
  hold(1, 30);
  hold(2, 30);
  hold(3, 95, 'new');
  expect([closed(), unread.bytes]).toEqual([[0, 1, 2], 95]);
});

it('a connection that holds more than all may is closed', () => {
  hold(0, 101);
  expect([closed(), unread.bytes]).toEqual([[0], 0]);
});

it('what a client has read is held no longer', () => {
  hold(0, 80);
  hold(0, 10, 'a', true);
  hold(1, 80);
  unread.release(sockets[1] as Socket);
  unread.release(sockets[1] as Socket);
  hold(2, 90);
  expect([closed(), unread.bytes]).toEqual([[], BYTES_MAX]);
});

it('closed connections have one line a minute, with how many they were and where the last one came from', () => {
  for (const network of ['first', 'second', 'third']) hold(0, 101, network);
  now += MINUTE_LOG_INTERVAL_MS;
  hold(0, 101, 'last');
  expect(logger.entries).toEqual([
    { level: 'warn', event: 'unread_connection_closed', fields: { network: 'first', count: 1 } },
    { level: 'warn', event: 'unread_connection_closed', fields: { network: 'last', count: 3 } },
  ]);
});
