import { InvalidArgumentError } from 'commander';
import { HEX_ID_PATTERN } from '../../../domain/shared/hex-id.ts';

/** An id of an argument. Throws `InvalidArgumentError`. */
export function toHexId(text: string): string {
  if (HEX_ID_PATTERN.test(text)) return text;
  throw new InvalidArgumentError('It is 24 hex digits.');
}
