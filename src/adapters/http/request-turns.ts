import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Serves a request, now or when earlier ones of its connection are answered. */
export type TakeTurn = (socket: Socket, response: ServerResponse, serve: () => void) => void;

/** One connection: its requests that came in, and those of them that are being served. */
interface Lane {
  unanswered: number;
  served: number;
  readonly waiting: (() => void)[];
  isHeld: boolean;
  isNextTurnSet: boolean;
}

/**
 * Serves at most `requestsMax` requests of one connection at a time, in the order they came. Node hands over
 * every request of a chunk at once, and a caller that does not wait for answers gets thousands into one: the
 * others wait for their turn, which lets other connections go first, and nothing more is read until they had it.
 */
export function requestTurns(server: Server, requestsMax: number): TakeTurn {
  const lanes = new WeakMap<Socket, Lane>();
  server.on('connection', (socket: Socket) => lanes.set(socket, openLane(socket)));

  return (socket, response, serve) => {
    const lane = lanes.get(socket) ?? openLane(socket);
    lane.unanswered += 1;
    if (lane.unanswered > requestsMax) hold(socket, lane);
    response.once('close', () => {
      lane.unanswered -= 1;
      lane.served -= 1;
      if (lane.waiting.length > 0) setNextTurn(lane, requestsMax);
      if (lane.isHeld && lane.unanswered <= requestsMax) release(socket, lane);
    });
    if (lane.served < requestsMax && lane.waiting.length === 0) start(lane, serve);
    else lane.waiting.push(serve);
  };
}

function openLane(socket: Socket): Lane {
  const lane: Lane = { unanswered: 0, served: 0, waiting: [], isHeld: false, isNextTurnSet: false };
  // Node resumes the connection behind every request, and for every body that is read.
  socket.on('resume', () => {
    if (lane.isHeld) socket.pause();
  });
  // Nobody is left to hear the answers.
  socket.once('close', () => {
    lane.waiting.length = 0;
  });
  return lane;
}

function start(lane: Lane, serve: () => void): void {
  lane.served += 1;
  serve();
}

/** Once the event loop has been round: answers that need no waiting would otherwise follow each other for long. */
function setNextTurn(lane: Lane, requestsMax: number): void {
  if (lane.isNextTurnSet) return;
  lane.isNextTurnSet = true;
  setImmediate(() => {
    lane.isNextTurnSet = false;
    for (const serve of lane.waiting.splice(0, requestsMax - lane.served)) start(lane, serve);
  });
}

function hold(socket: Socket, lane: Lane): void {
  if (lane.isHeld) return;
  lane.isHeld = true;
  socket.pause();
}

function release(socket: Socket, lane: Lane): void {
  lane.isHeld = false;
  socket.resume();
}
