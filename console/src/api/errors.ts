/** A fault of a document, with its position. */
export interface Finding {
  severity: string;
  code: string;
  message: string;
  path: string;
  file: string | null;
  line: number | null;
  column: number | null;
  suggestion: string | null;
}

/** An answer with an error status, in the words of the API. `status` is 0 if no answer arrived. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly requestId: string | null,
    readonly findings: readonly Finding[] = [],
  ) {
    super(message);
  }
}

/** Return the error of a response whose status is not a success. */
export async function errorOf(response: Response): Promise<ApiError> {
  const requestId = response.headers.get("x-openstack-request-id");
  let message = `${response.status} ${response.statusText}`;
  let findings: Finding[] = [];
  try {
    const body = await response.json();
    message = body?.error?.message ?? body?.message ?? body?.title ?? message;
    findings = body?.error?.diagnostics ?? [];
  } catch {
    // A proxy in between answers with a page of its own.
  }
  return new ApiError(response.status, message, requestId, findings);
}
