import { z } from 'zod';
import { isSuccessStatus, type ProviderResponse } from '../../application/ports/provider-http.ts';
import { limitedJsonOf } from '../../domain/shared/json-text.ts';
import { providerText } from '../../domain/shared/provider-text.ts';

const text = z.string();

/** The error object of the Graph API, as far as it is read: titles are going to disappear, codes and details stay. */
export const graphError = z.object({
  code: z.int(),
  message: text.optional().catch(undefined),
  title: text.optional().catch(undefined),
  error_data: z.object({ details: text }).optional().catch(undefined),
});
export type GraphError = z.output<typeof graphError>;

const errorResponse = z.object({ error: graphError });

/** A response of the Graph API: JSON that is no error, an error, or nothing that can be read. */
export type GraphResponse =
  | { readonly kind: 'json'; readonly json: unknown }
  | { readonly kind: 'error'; readonly status: number; readonly error: GraphError }
  | { readonly kind: 'not-sent' | 'limited' | 'unclear'; readonly reason: string };

/** What a response says. An error object counts whatever the status is; other responses only with a status of success. */
export function graphResponse(response: ProviderResponse, membersMax: number): GraphResponse {
  if (response.kind !== 'responded') return response;
  const { status, body } = response;
  const json = limitedJsonOf(body, membersMax);
  const failed = errorResponse.safeParse(json);
  if (failed.success) return { kind: 'error', status, error: failed.data.error };
  if (!isSuccessStatus(status) || typeof json !== 'object' || json === null) {
    return { kind: 'unclear', reason: `Meta responded with status ${status} and nothing that can be read` };
  }
  return { kind: 'json', json };
}

/** Meta's own words; empty when it gave none. */
export function wordsOf({ message, title, error_data: data }: GraphError): string {
  return data?.details ?? message ?? title ?? '';
}

/** The code and Meta's own words, in a form that can be stored. */
export function errorText(error: GraphError): string {
  const words = wordsOf(error);
  return providerText(words === '' ? `Meta error ${error.code}` : `Meta error ${error.code}: ${words}`);
}
