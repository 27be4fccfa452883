import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setImmediate } from 'node:timers';

export type Serve = (request: IncomingMessage, response: ServerResponse) => void;

/** One connection: its requests that came in, and those of them that are being served. */
interface Lane {
  unanswered: number;
  served: number;
  readonly waiting: (readonly [IncomingMessage, ServerResponse])[];
  isHeld: boolean;
  isNextTurnSet: boolean;
  /** Heard by every response when it is over. */
  readonly answered: () => void;
}

/**
 * Makes of `serve` one that serves at most `requestsMax` requests of one connection at a time, in the order they
 * came. Node hands over every request of a chunk at once, and a caller that does not wait for answers gets
 * thousands into one: the others wait for their turn, which lets other connections go first, and nothing more is
 * read until they had it.
 */
export function pipeliningLimit(server: Server, requestsMax: number, serve: Serve): Serve {
  const lanes = new WeakMap<Socket, Lane>();
  const open = (socket: Socket): Lane => {
    const lane = openLane(socket, requestsMax, serve);
    lanes.set(socket, lane);
    return lane;
  };
  server.on('connection', open);

  return (request, response) => {
    const { socket } = request;
    const lane = lanes.get(socket) ?? open(socket);
    lane.unanswered += 1;
    if (lane.unanswered > requestsMax) hold(socket, lane);
    response.on('close', lane.answered);
    if (lane.served < requestsMax && lane.waiting.length === 0) {
      lane.served += 1;
      serve(request, response);
    } else {
      lane.waiting.push([request, response]);
    }
  };
}

function openLane(socket: Socket, requestsMax: number, serve: Serve): Lane {
  const lane: Lane = {
    unanswered: 0,
    served: 0,
    waiting: [],
    isHeld: false,
    isNextTurnSet: false,
    answered() {
      lane.unanswered -= 1;
      lane.served -= 1;
      if (lane.waiting.length > 0) setNextTurn(lane, requestsMax, serve);
      if (lane.isHeld && lane.unanswered <= requestsMax) release(socket, lane);
    },
  };
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

/** Once the event loop has been round: answers that need no waiting would otherwise follow each other for long. */
function setNextTurn(lane: Lane, requestsMax: number, serve: Serve): void {
  if (lane.isNextTurnSet) return;
  lane.isNextTurnSet = true;
  setImmediate(() => {
    lane.isNextTurnSet = false;
    for (const [request, response] of lane.waiting.splice(0, requestsMax - lane.served)) {
      lane.served += 1;
      serve(request, response);
    }
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
