import { getFrom, load } from '../../../test/support/http-load.ts';
import { LIST_READER } from '../seed.ts';
import type { Target } from './target.ts';

const CONNECTIONS = 200;
const PATHS = ['/international-sms-pricing?limit=500', '/whatsapp/resources'];

/** Reads pages of prices and the whatsapp resources in turn, without a break. Resolves with the number of responses. */
export async function readLists({ port, seconds }: Target): Promise<number> {
  const requests = PATHS.map((path) => getFrom(path, LIST_READER.apiKey));
  let sent = 0;
  const makeRequest = (): Buffer => {
    sent += 1;
    return requests[sent % requests.length] as Buffer;
  };
  const { responses, failed } = await load({ port, seconds, connections: CONNECTIONS, makeRequest });
  if (failed > 0) throw new Error(`${failed} of ${responses} reads of lists failed`);
  return responses;
}
