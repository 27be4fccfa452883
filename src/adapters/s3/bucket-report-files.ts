import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import type { ReportFiles } from '../../application/ports/report-files.ts';
import { type BucketConnections, boundedAgents, boundedResponses } from './bounded-responses.ts';

/** Where a bucket is, and who may use it. */
export interface BucketConfig {
  readonly bucket: string;
  /** What the keys of the files begin with; empty, or without a slash at either end. */
  readonly prefix: string;
  readonly endpoint: string;
  readonly region: string;
  /** `endpoint/bucket/key` instead of `bucket.endpoint/key`. */
  readonly pathStyle: boolean;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface BucketTimeouts {
  readonly connectMs: number;
  /** From the begin of a request to the head of its response; and for its body, but for that of a file. */
  readonly responseMs: number;
  /** Without a byte in either direction: also how long the reader of a file may halt. */
  readonly idleMs: number;
}

const TIMEOUTS: BucketTimeouts = { connectMs: 5_000, responseMs: 60_000, idleMs: 60_000 };
/** A request that fails by the network, by load or by a fault of the bucket is sent this often in all. */
const ATTEMPTS_MAX = 3;
/** What a file is uploaded in, and about what one write holds in memory: the least that S3 allows. */
const PART_BYTES = 5 * 1024 * 1024;
const CONTENT_TYPE = 'text/csv; charset=utf-8';
/** Unfinished uploads of a file that one write or remove aborts; the next one takes the rest. */
const ABORTED_UPLOADS_MAX = 10;
/** A code of S3, or the name of an error: what else a bucket writes there is none. */
const CODE_PATTERN = /^\w{1,64}$/;
/** Of a bucket, or a key, that may not list unfinished uploads: a lifecycle rule of the bucket removes them. */
const NOT_LISTED: ReadonlySet<string> = new Set(['AccessDenied', 'MethodNotAllowed', 'NotImplemented']);

/**
 * A request to the bucket failed. It has the code of the bucket, or the error of the connection, and nothing else: the errors of
 * the client, and the texts of a bucket, repeat the access key and the signed request.
 */
export class BucketError extends Error {
  /** The error code of S3, such as `NoSuchBucket`, or the name of the client's error. */
  readonly code: string;

  constructor(bucket: string, error: Error) {
    const status = statusOf(error);
    const code = CODE_PATTERN.test(error.name) ? error.name : 'UnknownError';
    super(
      `The bucket ${bucket} cannot be used: ${code}: ${status === null ? error.message : `HTTP ${status}`}`,
    );
    this.name = 'BucketError';
    this.code = code;
  }
}

/**
 * Reports as objects of an S3-compatible bucket. An upload that a dead process left is invisible, and aborted by the next write
 * or remove of its file. Throws `BucketError`. Two gaps: a write that loses only the last response rejects, and the file is
 * there; one that was given up may still end.
 */
export class BucketReportFiles implements ReportFiles {
  readonly #config: BucketConfig;
  readonly #connections: BucketConnections;
  readonly #timeouts: BucketTimeouts;
  #opened: Promise<{ sdk: typeof import('@aws-sdk/client-s3'); client: S3Client }> | null = null;

  constructor(config: BucketConfig, connections: BucketConnections, timeouts: BucketTimeouts = TIMEOUTS) {
    this.#config = config;
    this.#connections = connections;
    this.#timeouts = timeouts;
  }

  async write(fileId: string, content: AsyncIterable<string>, signal?: AbortSignal): Promise<void> {
    let rejection: { readonly reason: unknown } | null = null;
    const texts = content[Symbol.asyncIterator]();
    // An upload that fails throws into the generator, which is no error of the content.
    const next = async (): Promise<IteratorResult<string>> => {
      try {
        return await texts.next();
      } catch (reason) {
        rejection = { reason };
        throw reason;
      }
    };
    const watched = async function* (): AsyncGenerator<Buffer> {
      try {
        for (let text = await next(); text.done !== true; text = await next()) yield Buffer.from(text.value);
      } finally {
        await texts.return?.();
      }
    };
    try {
      await this.#abortUploads(fileId, signal);
      const { client } = await this.#open();
      const { Upload } = await import('@aws-sdk/lib-storage');
      const upload = new Upload({
        client,
        partSize: PART_BYTES,
        queueSize: 1,
        params: { ...this.#objectOf(fileId), Body: Readable.from(watched()), ContentType: CONTENT_TYPE },
      });
      signal?.throwIfAborted();
      const abort = () => void upload.abort();
      signal?.addEventListener('abort', abort);
      await upload.done().finally(() => signal?.removeEventListener('abort', abort));
    } catch (error) {
      // The abort of the upload may have failed as well: the content's own error says why the write ended.
      const { reason } = (rejection as { readonly reason: unknown } | null) ?? { reason: this.#plain(error) };
      throw reason;
    }
  }

  async read(fileId: string, signal?: AbortSignal): Promise<Readable | null> {
    const { sdk, client } = await this.#open();
    try {
      const get = new sdk.GetObjectCommand(this.#objectOf(fileId));
      const { Body } = await client.send(get, abortedBy(signal));
      return Body as Readable;
    } catch (error) {
      if (nameOf(error) === 'NoSuchKey') return null;
      throw this.#plain(error);
    }
  }

  async remove(fileId: string, signal?: AbortSignal): Promise<void> {
    const { sdk, client } = await this.#open();
    try {
      await client.send(new sdk.DeleteObjectCommand(this.#objectOf(fileId)), abortedBy(signal));
      await this.#abortUploads(fileId, signal);
    } catch (error) {
      if (nameOf(error) !== 'NoSuchKey') throw this.#plain(error);
    }
  }

  /** What processes that died have left of a file. One that still writes cannot finish then, which it no longer has to. */
  async #abortUploads(fileId: string, signal: AbortSignal | undefined): Promise<void> {
    const { sdk, client } = await this.#open();
    const { Bucket, Key } = this.#objectOf(fileId);
    const listed = await client
      .send(
        new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: Key, MaxUploads: ABORTED_UPLOADS_MAX }),
        abortedBy(signal),
      )
      .catch((error: unknown) => {
        if (NOT_LISTED.has(nameOf(error))) return { Uploads: [] };
        throw error;
      });
    const uploads = (listed.Uploads ?? []).filter((upload) => upload.Key === Key);
    for (const { UploadId } of uploads.slice(0, ABORTED_UPLOADS_MAX)) {
      await client
        .send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }), abortedBy(signal))
        .catch((error: unknown) => {
          if (nameOf(error) !== 'NoSuchUpload') throw error;
        });
    }
  }

  #objectOf(fileId: string): { readonly Bucket: string; readonly Key: string } {
    const { bucket, prefix } = this.#config;
    return { Bucket: bucket, Key: `${prefix === '' ? '' : `${prefix}/`}${fileId}.csv` };
  }

  /** The client is big: it is loaded with the first report, not at the start of the process. */
  #open() {
    this.#opened ??= import('@aws-sdk/client-s3').then((sdk) => ({ sdk, client: this.#clientFrom(sdk) }));
    return this.#opened;
  }

  /** Every setting is given: the client would read the others from variables and files of its own. */
  #clientFrom(sdk: typeof import('@aws-sdk/client-s3')): S3Client {
    const { endpoint, region, pathStyle, accessKeyId, secretAccessKey } = this.#config;
    const { connectMs, responseMs, idleMs } = this.#timeouts;
    const client = new sdk.S3Client({
      endpoint,
      region,
      forcePathStyle: pathStyle,
      credentials: { accessKeyId, secretAccessKey },
      useFipsEndpoint: false,
      useDualstackEndpoint: false,
      // Servers other than Amazon's do not know the newer checksums.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      retryMode: 'standard',
      maxAttempts: ATTEMPTS_MAX,
      requestHandler: {
        connectionTimeout: connectMs,
        requestTimeout: responseMs,
        throwOnRequestTimeout: true,
        socketTimeout: idleMs,
        ...boundedAgents(this.#connections, connectMs),
      },
    });
    client.middlewareStack.addRelativeTo(boundedResponses(responseMs), {
      name: 'boundedResponses',
      relation: 'after',
      toMiddleware: 'deserializerMiddleware',
    });
    return client;
  }

  #plain(error: unknown): BucketError {
    return new BucketError(this.#config.bucket, error instanceof Error ? error : new Error(String(error)));
  }
}

/** The status of the response that the error is about; null when there was none. */
function statusOf(error: Error): number | null {
  const { $metadata: metadata } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return metadata?.httpStatusCode ?? null;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : '';
}

function abortedBy(signal: AbortSignal | undefined) {
  return signal === undefined ? {} : { abortSignal: signal };
}
