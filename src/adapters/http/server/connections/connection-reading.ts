import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { BodyPieces } from '../../../../application/body-pieces.ts';
import type { FairReading } from '../rounds/fair-reading.ts';
import type { FairRounds } from '../rounds/fair-rounds.ts';
import type { RoundTask } from '../rounds/pausing-rounds.ts';
import { gatherPieces, ROUND_PIECES } from './gathered-pieces.ts';

type Reading = Pick<FairReading, 'mayGoOn' | 'drop'>;

/** What the connections of a server share for reading. */
export interface ReadingParts {
  /** Of new connections. */
  readonly newConnections: Reading;
  /** Of bodies that are chunked or long: see `leavesMuchUnread`. */
  readonly unreadBodies: Reading & Pick<FairReading, 'noteRead'>;
}

/** What is told of a body as it is read. */
interface BodyReader {
  /** Called at the end of the body: its trailer lines have come. */
  readonly onEnd: () => void;
  /** Called once when it has too many pieces. */
  readonly reject: () => void;
}

/** When one connection is read: not while it is paused, nor while it waits for what others send. */
export class ConnectionReading {
  readonly #socket: Socket;
  readonly #parts: ReadingParts;
  readonly #rounds: Pick<FairRounds, 'round'>;
  readonly #reader: RoundTask = {
    serveNext: () => {
      this.#waitsFor = null;
      if (!this.#isPaused) this.#socket.resume();
    },
  };
  /** Nothing more is read until `resume`. */
  #isPaused = false;
  /** Where what it sends waits for what others send; null when it does not wait. */
  #waitsFor: Reading | null = null;
  /** The pieces of bodies that came in the round `#piecesRound`. */
  #pieces = new BodyPieces(ROUND_PIECES);
  #piecesRound = -1;

  constructor(socket: Socket, parts: ReadingParts, rounds: Pick<FairRounds, 'round'>) {
    this.#socket = socket;
    this.#parts = parts;
    this.#rounds = rounds;
    // Node resumes the connection behind every request, and for every body that is read.
    socket.on('resume', () => {
      if (this.#isPaused || this.#waitsFor !== null) socket.pause();
    });
  }

  /** Node resumes a new connection behind its event: only then does a pause end its reading. */
  begin(network: string): void {
    this.#waitToRead(this.#parts.newConnections, network);
  }

  pause(): void {
    if (this.#isPaused) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    if (this.#waitsFor === null) this.#socket.resume();
  }

  /** The connection is closed. */
  drop(): void {
    this.#waitsFor?.drop(this.#reader);
  }

  /** Node's parser pushes each piece of a body, whether it is wanted or thrown away. */
  limitBody(request: IncomingMessage, network: string, { onEnd, reject }: BodyReader): void {
    const push = gatherPieces(request, () => this.#piecesOfRound(), reject);
    request.push = (piece, encoding) => {
      const wantsMore = push(piece, encoding);
      if (piece === null) {
        onEnd();
      } else {
        this.#parts.unreadBodies.noteRead();
        this.#waitToRead(this.#parts.unreadBodies, network);
        if (this.#waitsFor !== null) this.#socket.pause();
      }
      return wantsMore;
    };
  }

  #piecesOfRound(): BodyPieces {
    const { round } = this.#rounds;
    if (round !== this.#piecesRound) {
      this.#piecesRound = round;
      this.#pieces = new BodyPieces(ROUND_PIECES);
    }
    return this.#pieces;
  }

  #waitToRead(reading: Reading, network: string): void {
    if (this.#waitsFor === null && !reading.mayGoOn(network, this.#reader)) {
      this.#waitsFor = reading;
    }
  }
}
