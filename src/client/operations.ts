/**
 * The types of single operations, out of those that are generated from the document: what a call gives, and what it gets.
 */

import type { components, paths } from './openapi-types.ts';

type Method = 'get' | 'post' | 'patch' | 'delete';

type Operation<M extends Method, P extends keyof paths> = NonNullable<paths[P][M]>;

/** The paths that have a method. */
type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P][M] extends object ? P : never;
}[keyof paths];

/** The names of the headers that a POST takes. */
type HeaderOf<P extends PathOf<'post'>> =
  Operation<'post', P> extends {
    readonly parameters: { readonly header?: infer Headers };
  }
    ? [NonNullable<Headers>] extends [never]
      ? never
      : keyof NonNullable<Headers>
    : never;

/** The paths whose POST takes an Idempotency-Key. */
export type KeyedPath = {
  [P in PathOf<'post'>]: 'Idempotency-Key' extends HeaderOf<P> ? P : never;
}[PathOf<'post'>];

/** The paths whose request, by that method, takes no Idempotency-Key. */
export type PlainPath<M extends Method> = M extends 'post' ? Exclude<PathOf<M>, KeyedPath> : PathOf<M>;

type JsonOf<Part> = Part extends { readonly content: { readonly 'application/json': infer Value } }
  ? Value
  : never;

/** The body of a request. */
export type BodyOf<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { readonly requestBody: infer Body } ? JsonOf<Body> : never;

/** The body of the reply with status 200. */
export type ReplyOf<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { readonly responses: { readonly 200: infer Reply } } ? JsonOf<Reply> : never;

/** The query of a request. */
export type QueryOf<P extends PathOf<'get'>> =
  Operation<'get', P> extends { readonly parameters: { readonly query?: infer Query } }
    ? NonNullable<Query>
    : never;

type PathParametersOf<M extends Method, P extends keyof paths> =
  Operation<M, P> extends { readonly parameters: { readonly path: infer Parameters } } ? Parameters : never;

type Part<Name extends string, Value> = [Value] extends [never] ? object : { readonly [N in Name]: Value };

/** What an operation has to be given beside options. */
export type RequestOf<M extends Method, P extends keyof paths> = Part<'path', PathParametersOf<M, P>> &
  Part<'body', BodyOf<M, P>> &
  (M extends 'get' ? (P extends PathOf<'get'> ? { readonly query?: QueryOf<P> } : object) : object);

/** The words of `X-Error-Code` today; a later service may have more. */
export type ErrorCode = components['headers']['X-Error-Code'];
