import {
  PROVIDER_RESPONSE_MEMBERS_MAX,
  type ProviderRequest,
  type ProviderResponse,
} from '../../application/ports/provider-http.ts';
import { reasonMask } from '../../domain/shared/secret-mask.ts';
import { type GraphResponse, graphResponse, wordsOf } from './graph-response.ts';

interface GraphApiOptions {
  /** Without a slash at its end. */
  readonly baseUrl: string;
  /** Such as `v25.0`. */
  readonly version: string;
  readonly accessToken: string;
}

/** Requests to Meta's Graph API. The token goes into a header only: a URL may be logged on the way. */
export class GraphApi {
  readonly version: string;
  readonly #base: string;
  readonly #masked: (text: string) => string;
  readonly #headers: Readonly<Record<string, string>>;

  constructor({ baseUrl, version, accessToken }: GraphApiOptions) {
    this.version = version;
    this.#base = `${baseUrl}/${version}`;
    this.#masked = reasonMask([accessToken]);
    this.#headers = { authorization: `Bearer ${accessToken}` };
  }

  get(path: string, query: Readonly<Record<string, string>>): ProviderRequest {
    const url = `${this.#base}/${escaped(path)}?${new URLSearchParams(query)}`;
    return { method: 'GET', url, headers: this.#headers };
  }

  post(path: string, body: object): ProviderRequest {
    return {
      method: 'POST',
      url: `${this.#base}/${escaped(path)}`,
      headers: { ...this.#headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    };
  }

  /**
   * What a response says. A server may repeat the request in its error: the token is masked, because reasons are logged and
   * stored. A response to one message has at most `membersMax` members.
   */
  read(response: ProviderResponse, membersMax = PROVIDER_RESPONSE_MEMBERS_MAX): GraphResponse {
    const read = graphResponse(response, membersMax);
    if (read.kind !== 'error') return read;
    const { code } = read.error;
    return { ...read, error: { code, message: this.#masked(wordsOf(read.error)) } };
  }
}

/** An id of the platform is text of an operator's seed, and must not name another place. */
function escaped(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}
