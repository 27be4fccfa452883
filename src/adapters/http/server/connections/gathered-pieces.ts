import type { IncomingMessage } from 'node:http';
import { BodyPieces, type PieceLimits } from '../../../../application/body-pieces.ts';
import { onNextRound } from '../../../../application/concurrency/next-round.ts';
import { GrowingBuffer } from '../../../../application/growing-buffer.ts';

type Push = IncomingMessage['push'];

/** How many pieces of a body go on as they come: those of ordinary clients. Of the pieces behind them only the larger ones do. */
export const LOOSE_PIECES_MAX = 16;
const SMALL_PIECE_BYTES = 1_024;

/** The limits of the body of a request: each piece of one that waits is an object. */
export const REQUEST_PIECES: PieceLimits = { smallMax: 500, bytesMin: 16 };

/** The limits of all bodies of a connection in one round of the event loop: each piece takes microseconds. */
export const ROUND_PIECES: PieceLimits = { smallMax: 500, bytesMin: 64 };

/**
 * The push of a request, for the pieces of its body as the parser finds them. Each chunk of a chunked body is one, and a client
 * may make thousands of one byte: each would hold an object, and the whole read that it came with. Small ones are gathered until
 * the end of the round. `ofRound` are the pieces of the connection in this round. Of a body with too many, in all or in a round,
 * the rest is thrown away, and `reject` is called once.
 */
export function gatherPieces(request: IncomingMessage, ofRound: () => BodyPieces, reject: () => void): Push {
  const push: Push = request.push.bind(request);
  const pieces = new BodyPieces(REQUEST_PIECES);
  let gathered: GrowingBuffer | null = null;
  let gatheredBytes = 0;
  let isRejected = false;
  const pushGathered = (): void => {
    const all = gathered?.bytes();
    gathered = null;
    gatheredBytes = 0;
    if (all !== undefined) push(all);
  };
  return (piece: Buffer | null, encoding) => {
    if (isRejected) return false;
    if (piece === null) {
      pushGathered();
      return push(null);
    }
    if (!pieces.add(piece.length) || !ofRound().add(piece.length)) {
      isRejected = true;
      reject();
      return false;
    }
    if (pieces.count <= LOOSE_PIECES_MAX || piece.length > SMALL_PIECE_BYTES) {
      pushGathered();
      return push(piece, encoding);
    }
    if (gathered === null) {
      gathered = new GrowingBuffer(Number.POSITIVE_INFINITY);
      onNextRound(pushGathered);
    }
    gathered.add(piece);
    gatheredBytes += piece.length;
    return request.readableLength + gatheredBytes < request.readableHighWaterMark;
  };
}
