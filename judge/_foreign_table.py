"""Classes of other packages' errors, and ours that tell of them.

A class is named by its package and name, so that none of the packages is loaded for it.
"""

from __future__ import annotations

from collections.abc import Mapping

from .errors import (
    EvaluatorError,
    FilteredReplyError,
    JudgeAuthError,
    JudgeError,
    JudgeRateLimitError,
    JudgeRequestError,
    JudgeTimeoutError,
    JudgeUnavailableError,
    JudgeUnreachableError,
    TruncatedReplyError,
    UnreadableReplyError,
)

TABLE: Mapping[str, type[EvaluatorError]] = {
    "openai.APITimeoutError": JudgeTimeoutError,
    "openai.APIConnectionError": JudgeUnreachableError,
    "openai.AuthenticationError": JudgeAuthError,
    "openai.PermissionDeniedError": JudgeAuthError,
    "openai.SubjectTokenProviderError": JudgeAuthError,
    "openai.RateLimitError": JudgeRateLimitError,
    "openai.ConflictError": JudgeUnavailableError,
    "openai.InternalServerError": JudgeUnavailableError,
    "openai.APIResponseValidationError": JudgeUnavailableError,
    "openai.APIError": JudgeRequestError,
    "openai.WebSocketConnectionClosedError": JudgeUnreachableError,
    "openai.LengthFinishReasonError": TruncatedReplyError,
    "openai.ContentFilterFinishReasonError": FilteredReplyError,
    "httpx.ConnectTimeout": JudgeUnreachableError,
    "httpx.TimeoutException": JudgeTimeoutError,
    "httpx.UnsupportedProtocol": JudgeRequestError,
    "httpx.TransportError": JudgeUnreachableError,
    "httpx.DecodingError": JudgeUnavailableError,
    "httpx.TooManyRedirects": JudgeRequestError,
    "httpx.HTTPError": JudgeRequestError,
    "httpx.InvalidURL": JudgeRequestError,
    "langchain_core.ModelTimeoutError": JudgeTimeoutError,
    "langchain_core.ModelConnectionError": JudgeUnreachableError,
    "langchain_core.ModelRateLimitError": JudgeRateLimitError,
    "langchain_core.ModelAPIError": JudgeUnavailableError,
    "langchain_core.ModelAuthenticationError": JudgeAuthError,
    "langchain_core.ModelPermissionDeniedError": JudgeAuthError,
    "langchain_core.ModelRefusalError": FilteredReplyError,
    "langchain_core.ModelError": JudgeRequestError,
    "langchain_core.OutputParserException": UnreadableReplyError,
    "instructor.IncompleteOutputException": TruncatedReplyError,
    "instructor.ResponseParsingError": UnreadableReplyError,
    "instructor.ValidationError": UnreadableReplyError,
    "instructor.AsyncValidationError": UnreadableReplyError,
    "instructor.InstructorRetryException": UnreadableReplyError,
    "instructor.ProviderError": JudgeRequestError,
    "anthropic.APITimeoutError": JudgeTimeoutError,
    "anthropic.APIConnectionError": JudgeUnreachableError,
    "anthropic.APIError": JudgeRequestError,
    "groq.APITimeoutError": JudgeTimeoutError,
    "groq.APIConnectionError": JudgeUnreachableError,
    "groq.APIError": JudgeRequestError,
    "google.APIError": JudgeRequestError,
    "ollama.ResponseError": JudgeRequestError,
    "builtins.TimeoutError": JudgeTimeoutError,
    "builtins.ConnectionError": JudgeUnreachableError,
    "builtins.UnicodeDecodeError": JudgeUnavailableError,
    "json.JSONDecodeError": JudgeUnavailableError,
}
"""Package and class -> our class. The most derived class that is named here decides."""

NOT_OF_THE_SERVICE = frozenset((
    "openai.OpenAIError", "openai.InvalidWebhookSignatureError", "openai.APIRemovedInV1",
    "openai.WebSocketQueueFullError", "openai._AmbiguousModuleClientUsageError",
    "openai.MissingDependencyError", "openai.MissingStreamClassError",
    "openai.MutuallyExclusiveAuthError", "openai.StreamAlreadyConsumed",
    "httpx.CookieConflict", "httpx.StreamError", "httpx.StreamClosed", "httpx.StreamConsumed",
    "httpx.RequestNotRead", "httpx.ResponseNotRead",
    "langchain_core.LangChainException", "langchain_core.TracerException",
    "instructor.InstructorError", "instructor.ClientError", "instructor.ConfigurationError",
    "instructor.ModeError", "instructor.MultimodalError",
))  # fmt: skip
"""Mistakes in how a client is used, and roots that say nothing. Each stands for itself alone,
not for the classes derived from it: a new one must be put here or into the table."""

ROOTS = {
    "openai": "APIError",
    "httpx": "HTTPError",
    "httpx2": "HTTPError",
    "langchain_core.exceptions": "ModelError",
    "anthropic": "APIError",
    "groq": "APIError",
    "google.genai.errors": "APIError",
    "ollama": "ResponseError",
}
"""Base classes by which client packages tell of the service, looked up where they are loaded."""

CODES: Mapping[str, type[JudgeError]] = {
    "rate_limit_exceeded": JudgeRateLimitError,
    "rate_limit_error": JudgeRateLimitError,
    "too_many_requests": JudgeRateLimitError,
    "resource_exhausted": JudgeRateLimitError,
    "unauthenticated": JudgeAuthError,
    "invalid_api_key": JudgeAuthError,
    "incorrect_api_key": JudgeAuthError,
    "authentication_error": JudgeAuthError,
    "permission_denied": JudgeAuthError,
    "permission_error": JudgeAuthError,
    "model_not_found": JudgeRequestError,
    "context_length_exceeded": JudgeRequestError,
    "invalid_request_error": JudgeRequestError,
}
"""What services call an error inside a reply of status 200, where they give no number. What is
not named here counts as "unavailable"."""

SAME = {"httpx2": "httpx"}
"""Packages with the classes of another."""
