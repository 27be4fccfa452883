import {
  CreateBucketCommand,
  HeadBucketCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import type { BucketConfig } from '../../src/adapters/s3/bucket-report-files.ts';

const PROBE_TIMEOUT_MS = 5_000;

/** The bucket of TEST_S3_URL: `http://KEY:SECRET@host:port/bucket`, with `?region=…` where it matters. */
export function bucketAt(url: string, prefix = ''): BucketConfig {
  const { origin, username, password, pathname, searchParams } = new URL(url);
  return {
    bucket: pathname.slice(1),
    prefix,
    endpoint: origin,
    region: searchParams.get('region') ?? 'us-east-1',
    pathStyle: true,
    accessKeyId: decodeURIComponent(username),
    secretAccessKey: decodeURIComponent(password),
  };
}

/** Creates the bucket when it is missing; rejects while its server does not reply. */
export async function probeBucket(url: string): Promise<void> {
  const { bucket: Bucket } = bucketAt(url);
  const client = clientOf(bucketAt(url));
  try {
    await client.send(new HeadBucketCommand({ Bucket })).catch((error: Error) => {
      if (error.name !== 'NotFound') throw error;
      return client.send(new CreateBucketCommand({ Bucket }));
    });
  } finally {
    client.destroy();
  }
}

/** Every object and unfinished upload below the prefix. */
export async function tracesIn(config: BucketConfig): Promise<readonly string[]> {
  const { bucket: Bucket, prefix: Prefix } = config;
  const client = clientOf(config);
  try {
    const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket, Prefix }));
    const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix }));
    return [
      ...Contents.map(({ Key }) => `${Key}`),
      ...Uploads.map(({ Key, UploadId }) => `${Key} (upload ${UploadId})`),
    ];
  } finally {
    client.destroy();
  }
}

function clientOf({ endpoint, region, pathStyle, accessKeyId, secretAccessKey }: BucketConfig): S3Client {
  return new S3Client({
    endpoint,
    region,
    forcePathStyle: pathStyle,
    credentials: { accessKeyId, secretAccessKey },
    maxAttempts: 1,
    requestHandler: { requestTimeout: PROBE_TIMEOUT_MS, throwOnRequestTimeout: true },
  });
}
