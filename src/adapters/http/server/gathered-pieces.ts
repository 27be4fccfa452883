import type { IncomingMessage } from 'node:http';
import { onNextRound } from '../../../application/concurrency/next-round.ts';

type Push = IncomingMessage['push'];

/** So many pieces of a body go on as they come: those of ordinary clients. */
export const LOOSE_PIECES_MAX = 16;
/** Smaller ones of the others are copied into blocks of this size. */
const BLOCK_BYTES = 4 * 1024;
const SMALL_PIECE_BYTES = BLOCK_BYTES / 4;

/** A body may have so many pieces, however small, and more only when all together have so many bytes each. */
export const SMALL_PIECES_MAX = 500;
export const PIECE_BYTES_MIN = 16;

/**
 * The push of a request, for the pieces of its body as the parser finds them. Each chunk of a chunked body is one, and a client
 * may make thousands of one byte: each would hold an object, and the whole read that it came with. Small ones are gathered until
 * the end of the round. Of a body with too many, the rest is thrown away, and `reject` is called once.
 */
export function gatherPieces(request: IncomingMessage, reject: () => void): Push {
  const push: Push = request.push.bind(request);
  let pieces = 0;
  let bytes = 0;
  let block: Buffer | null = null;
  let used = 0;
  let isRejected = false;
  const pushBlock = (): boolean => {
    const gathered = block?.subarray(0, used);
    block = null;
    used = 0;
    return gathered === undefined || push(gathered);
  };
  return (piece: Buffer | null, encoding) => {
    if (isRejected) return false;
    if (piece === null) {
      pushBlock();
      return push(null);
    }
    pieces += 1;
    bytes += piece.length;
    if (pieces > SMALL_PIECES_MAX && bytes < pieces * PIECE_BYTES_MIN) {
      isRejected = true;
      reject();
      return false;
    }
    if (pieces <= LOOSE_PIECES_MAX || piece.length > SMALL_PIECE_BYTES) {
      const wantsMore = pushBlock();
      return push(piece, encoding) && wantsMore;
    }
    const wantsMore = used + piece.length <= BLOCK_BYTES || pushBlock();
    if (block === null) {
      block = Buffer.allocUnsafeSlow(BLOCK_BYTES);
      onNextRound(pushBlock);
    }
    used += piece.copy(block, used);
    return wantsMore;
  };
}
