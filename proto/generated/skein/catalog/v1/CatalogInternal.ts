// Original file: catalog.proto

import type * as grpc from '@grpc/grpc-js'
import type { MethodDefinition } from '@grpc/proto-loader'
import type { AbandonCommitReplyInput as _skein_catalog_v1_AbandonCommitReplyInput, AbandonCommitReply as _skein_catalog_v1_AbandonCommitReply } from '../../../skein/catalog/v1/AbandonCommitReply.ts';
import type { AbandonCommitRequestInput as _skein_catalog_v1_AbandonCommitRequestInput, AbandonCommitRequest as _skein_catalog_v1_AbandonCommitRequest } from '../../../skein/catalog/v1/AbandonCommitRequest.ts';
import type { AbortUploadsReplyInput as _skein_catalog_v1_AbortUploadsReplyInput, AbortUploadsReply as _skein_catalog_v1_AbortUploadsReply } from '../../../skein/catalog/v1/AbortUploadsReply.ts';
import type { AbortUploadsRequestInput as _skein_catalog_v1_AbortUploadsRequestInput, AbortUploadsRequest as _skein_catalog_v1_AbortUploadsRequest } from '../../../skein/catalog/v1/AbortUploadsRequest.ts';
import type { AlterCatalogReplyInput as _skein_catalog_v1_AlterCatalogReplyInput, AlterCatalogReply as _skein_catalog_v1_AlterCatalogReply } from '../../../skein/catalog/v1/AlterCatalogReply.ts';
import type { AlterCatalogRequestInput as _skein_catalog_v1_AlterCatalogRequestInput, AlterCatalogRequest as _skein_catalog_v1_AlterCatalogRequest } from '../../../skein/catalog/v1/AlterCatalogRequest.ts';
import type { AlterTenantReplyInput as _skein_catalog_v1_AlterTenantReplyInput, AlterTenantReply as _skein_catalog_v1_AlterTenantReply } from '../../../skein/catalog/v1/AlterTenantReply.ts';
import type { AlterTenantRequestInput as _skein_catalog_v1_AlterTenantRequestInput, AlterTenantRequest as _skein_catalog_v1_AlterTenantRequest } from '../../../skein/catalog/v1/AlterTenantRequest.ts';
import type { AnswerInput as _skein_calls_v1_AnswerInput, Answer as _skein_calls_v1_Answer } from '../../../skein/calls/v1/Answer.ts';
import type { AuditPageInput as _skein_catalog_v1_AuditPageInput, AuditPage as _skein_catalog_v1_AuditPage } from '../../../skein/catalog/v1/AuditPage.ts';
import type { AuthorizeReplyInput as _skein_catalog_v1_AuthorizeReplyInput, AuthorizeReply as _skein_catalog_v1_AuthorizeReply } from '../../../skein/catalog/v1/AuthorizeReply.ts';
import type { AuthorizeRequestInput as _skein_catalog_v1_AuthorizeRequestInput, AuthorizeRequest as _skein_catalog_v1_AuthorizeRequest } from '../../../skein/catalog/v1/AuthorizeRequest.ts';
import type { BeginUploadRequestInput as _skein_catalog_v1_BeginUploadRequestInput, BeginUploadRequest as _skein_catalog_v1_BeginUploadRequest } from '../../../skein/catalog/v1/BeginUploadRequest.ts';
import type { CallInput as _skein_calls_v1_CallInput, Call as _skein_calls_v1_Call } from '../../../skein/calls/v1/Call.ts';
import type { CatalogListInput as _skein_catalog_v1_CatalogListInput, CatalogList as _skein_catalog_v1_CatalogList } from '../../../skein/catalog/v1/CatalogList.ts';
import type { ChangeListInput as _skein_catalog_v1_ChangeListInput, ChangeList as _skein_catalog_v1_ChangeList } from '../../../skein/catalog/v1/ChangeList.ts';
import type { CheckCatalogReplyInput as _skein_catalog_v1_CheckCatalogReplyInput, CheckCatalogReply as _skein_catalog_v1_CheckCatalogReply } from '../../../skein/catalog/v1/CheckCatalogReply.ts';
import type { CheckCatalogRequestInput as _skein_catalog_v1_CheckCatalogRequestInput, CheckCatalogRequest as _skein_catalog_v1_CheckCatalogRequest } from '../../../skein/catalog/v1/CheckCatalogRequest.ts';
import type { ClientListInput as _skein_catalog_v1_ClientListInput, ClientList as _skein_catalog_v1_ClientList } from '../../../skein/catalog/v1/ClientList.ts';
import type { ClientSecretInput as _skein_catalog_v1_ClientSecretInput, ClientSecret as _skein_catalog_v1_ClientSecret } from '../../../skein/catalog/v1/ClientSecret.ts';
import type { CommitTablesReplyInput as _skein_catalog_v1_CommitTablesReplyInput, CommitTablesReply as _skein_catalog_v1_CommitTablesReply } from '../../../skein/catalog/v1/CommitTablesReply.ts';
import type { CommitTablesRequestInput as _skein_catalog_v1_CommitTablesRequestInput, CommitTablesRequest as _skein_catalog_v1_CommitTablesRequest } from '../../../skein/catalog/v1/CommitTablesRequest.ts';
import type { CreateCatalogReplyInput as _skein_catalog_v1_CreateCatalogReplyInput, CreateCatalogReply as _skein_catalog_v1_CreateCatalogReply } from '../../../skein/catalog/v1/CreateCatalogReply.ts';
import type { CreateCatalogRequestInput as _skein_catalog_v1_CreateCatalogRequestInput, CreateCatalogRequest as _skein_catalog_v1_CreateCatalogRequest } from '../../../skein/catalog/v1/CreateCatalogRequest.ts';
import type { CreateClientRequestInput as _skein_catalog_v1_CreateClientRequestInput, CreateClientRequest as _skein_catalog_v1_CreateClientRequest } from '../../../skein/catalog/v1/CreateClientRequest.ts';
import type { CreateTenantReplyInput as _skein_catalog_v1_CreateTenantReplyInput, CreateTenantReply as _skein_catalog_v1_CreateTenantReply } from '../../../skein/catalog/v1/CreateTenantReply.ts';
import type { CreateTenantRequestInput as _skein_catalog_v1_CreateTenantRequestInput, CreateTenantRequest as _skein_catalog_v1_CreateTenantRequest } from '../../../skein/catalog/v1/CreateTenantRequest.ts';
import type { DescribeCatalogsRequestInput as _skein_catalog_v1_DescribeCatalogsRequestInput, DescribeCatalogsRequest as _skein_catalog_v1_DescribeCatalogsRequest } from '../../../skein/catalog/v1/DescribeCatalogsRequest.ts';
import type { DropCatalogReplyInput as _skein_catalog_v1_DropCatalogReplyInput, DropCatalogReply as _skein_catalog_v1_DropCatalogReply } from '../../../skein/catalog/v1/DropCatalogReply.ts';
import type { DropCatalogRequestInput as _skein_catalog_v1_DropCatalogRequestInput, DropCatalogRequest as _skein_catalog_v1_DropCatalogRequest } from '../../../skein/catalog/v1/DropCatalogRequest.ts';
import type { DropClientReplyInput as _skein_catalog_v1_DropClientReplyInput, DropClientReply as _skein_catalog_v1_DropClientReply } from '../../../skein/catalog/v1/DropClientReply.ts';
import type { DropClientRequestInput as _skein_catalog_v1_DropClientRequestInput, DropClientRequest as _skein_catalog_v1_DropClientRequest } from '../../../skein/catalog/v1/DropClientRequest.ts';
import type { DropTenantReplyInput as _skein_catalog_v1_DropTenantReplyInput, DropTenantReply as _skein_catalog_v1_DropTenantReply } from '../../../skein/catalog/v1/DropTenantReply.ts';
import type { DropTenantRequestInput as _skein_catalog_v1_DropTenantRequestInput, DropTenantRequest as _skein_catalog_v1_DropTenantRequest } from '../../../skein/catalog/v1/DropTenantRequest.ts';
import type { DroppedListInput as _skein_catalog_v1_DroppedListInput, DroppedList as _skein_catalog_v1_DroppedList } from '../../../skein/catalog/v1/DroppedList.ts';
import type { EndUploadReplyInput as _skein_catalog_v1_EndUploadReplyInput, EndUploadReply as _skein_catalog_v1_EndUploadReply } from '../../../skein/catalog/v1/EndUploadReply.ts';
import type { EndUploadRequestInput as _skein_catalog_v1_EndUploadRequestInput, EndUploadRequest as _skein_catalog_v1_EndUploadRequest } from '../../../skein/catalog/v1/EndUploadRequest.ts';
import type { EpochListInput as _skein_catalog_v1_EpochListInput, EpochList as _skein_catalog_v1_EpochList } from '../../../skein/catalog/v1/EpochList.ts';
import type { ExportAuditLogRequestInput as _skein_catalog_v1_ExportAuditLogRequestInput, ExportAuditLogRequest as _skein_catalog_v1_ExportAuditLogRequest } from '../../../skein/catalog/v1/ExportAuditLogRequest.ts';
import type { FindFoldersReplyInput as _skein_catalog_v1_FindFoldersReplyInput, FindFoldersReply as _skein_catalog_v1_FindFoldersReply } from '../../../skein/catalog/v1/FindFoldersReply.ts';
import type { FindFoldersRequestInput as _skein_catalog_v1_FindFoldersRequestInput, FindFoldersRequest as _skein_catalog_v1_FindFoldersRequest } from '../../../skein/catalog/v1/FindFoldersRequest.ts';
import type { FindLoadsReplyInput as _skein_catalog_v1_FindLoadsReplyInput, FindLoadsReply as _skein_catalog_v1_FindLoadsReply } from '../../../skein/catalog/v1/FindLoadsReply.ts';
import type { FindLoadsRequestInput as _skein_catalog_v1_FindLoadsRequestInput, FindLoadsRequest as _skein_catalog_v1_FindLoadsRequest } from '../../../skein/catalog/v1/FindLoadsRequest.ts';
import type { FindUploadRequestInput as _skein_catalog_v1_FindUploadRequestInput, FindUploadRequest as _skein_catalog_v1_FindUploadRequest } from '../../../skein/catalog/v1/FindUploadRequest.ts';
import type { GetMomentReplyInput as _skein_catalog_v1_GetMomentReplyInput, GetMomentReply as _skein_catalog_v1_GetMomentReply } from '../../../skein/catalog/v1/GetMomentReply.ts';
import type { GetMomentRequestInput as _skein_catalog_v1_GetMomentRequestInput, GetMomentRequest as _skein_catalog_v1_GetMomentRequest } from '../../../skein/catalog/v1/GetMomentRequest.ts';
import type { GetSigningKeysRequestInput as _skein_catalog_v1_GetSigningKeysRequestInput, GetSigningKeysRequest as _skein_catalog_v1_GetSigningKeysRequest } from '../../../skein/catalog/v1/GetSigningKeysRequest.ts';
import type { JobListInput as _skein_catalog_v1_JobListInput, JobList as _skein_catalog_v1_JobList } from '../../../skein/catalog/v1/JobList.ts';
import type { LeaseInput as _skein_catalog_v1_LeaseInput, Lease as _skein_catalog_v1_Lease } from '../../../skein/catalog/v1/Lease.ts';
import type { LeaseRequestInput as _skein_catalog_v1_LeaseRequestInput, LeaseRequest as _skein_catalog_v1_LeaseRequest } from '../../../skein/catalog/v1/LeaseRequest.ts';
import type { ListCatalogsRequestInput as _skein_catalog_v1_ListCatalogsRequestInput, ListCatalogsRequest as _skein_catalog_v1_ListCatalogsRequest } from '../../../skein/catalog/v1/ListCatalogsRequest.ts';
import type { ListChangesRequestInput as _skein_catalog_v1_ListChangesRequestInput, ListChangesRequest as _skein_catalog_v1_ListChangesRequest } from '../../../skein/catalog/v1/ListChangesRequest.ts';
import type { ListClientsRequestInput as _skein_catalog_v1_ListClientsRequestInput, ListClientsRequest as _skein_catalog_v1_ListClientsRequest } from '../../../skein/catalog/v1/ListClientsRequest.ts';
import type { ListDroppedRequestInput as _skein_catalog_v1_ListDroppedRequestInput, ListDroppedRequest as _skein_catalog_v1_ListDroppedRequest } from '../../../skein/catalog/v1/ListDroppedRequest.ts';
import type { ListJobsRequestInput as _skein_catalog_v1_ListJobsRequestInput, ListJobsRequest as _skein_catalog_v1_ListJobsRequest } from '../../../skein/catalog/v1/ListJobsRequest.ts';
import type { ListNamespacesRequestInput as _skein_catalog_v1_ListNamespacesRequestInput, ListNamespacesRequest as _skein_catalog_v1_ListNamespacesRequest } from '../../../skein/catalog/v1/ListNamespacesRequest.ts';
import type { ListRelationsRequestInput as _skein_catalog_v1_ListRelationsRequestInput, ListRelationsRequest as _skein_catalog_v1_ListRelationsRequest } from '../../../skein/catalog/v1/ListRelationsRequest.ts';
import type { ListStagesRequestInput as _skein_catalog_v1_ListStagesRequestInput, ListStagesRequest as _skein_catalog_v1_ListStagesRequest } from '../../../skein/catalog/v1/ListStagesRequest.ts';
import type { ListTablesRequestInput as _skein_catalog_v1_ListTablesRequestInput, ListTablesRequest as _skein_catalog_v1_ListTablesRequest } from '../../../skein/catalog/v1/ListTablesRequest.ts';
import type { ListTenantsRequestInput as _skein_catalog_v1_ListTenantsRequestInput, ListTenantsRequest as _skein_catalog_v1_ListTenantsRequest } from '../../../skein/catalog/v1/ListTenantsRequest.ts';
import type { LoadTablesReplyInput as _skein_catalog_v1_LoadTablesReplyInput, LoadTablesReply as _skein_catalog_v1_LoadTablesReply } from '../../../skein/catalog/v1/LoadTablesReply.ts';
import type { LoadTablesRequestInput as _skein_catalog_v1_LoadTablesRequestInput, LoadTablesRequest as _skein_catalog_v1_LoadTablesRequest } from '../../../skein/catalog/v1/LoadTablesRequest.ts';
import type { LoadedTableInput as _skein_catalog_v1_LoadedTableInput, LoadedTable as _skein_catalog_v1_LoadedTable } from '../../../skein/catalog/v1/LoadedTable.ts';
import type { MintTokenReplyInput as _skein_catalog_v1_MintTokenReplyInput, MintTokenReply as _skein_catalog_v1_MintTokenReply } from '../../../skein/catalog/v1/MintTokenReply.ts';
import type { MintTokenRequestInput as _skein_catalog_v1_MintTokenRequestInput, MintTokenRequest as _skein_catalog_v1_MintTokenRequest } from '../../../skein/catalog/v1/MintTokenRequest.ts';
import type { NameListInput as _skein_catalog_v1_NameListInput, NameList as _skein_catalog_v1_NameList } from '../../../skein/catalog/v1/NameList.ts';
import type { NamespaceListInput as _skein_catalog_v1_NamespaceListInput, NamespaceList as _skein_catalog_v1_NamespaceList } from '../../../skein/catalog/v1/NamespaceList.ts';
import type { OpenStageRequestInput as _skein_catalog_v1_OpenStageRequestInput, OpenStageRequest as _skein_catalog_v1_OpenStageRequest } from '../../../skein/catalog/v1/OpenStageRequest.ts';
import type { PersonTokensInput as _skein_catalog_v1_PersonTokensInput, PersonTokens as _skein_catalog_v1_PersonTokens } from '../../../skein/catalog/v1/PersonTokens.ts';
import type { PolicyStatementReplyInput as _skein_catalog_v1_PolicyStatementReplyInput, PolicyStatementReply as _skein_catalog_v1_PolicyStatementReply } from '../../../skein/catalog/v1/PolicyStatementReply.ts';
import type { PolicyStatementRequestInput as _skein_catalog_v1_PolicyStatementRequestInput, PolicyStatementRequest as _skein_catalog_v1_PolicyStatementRequest } from '../../../skein/catalog/v1/PolicyStatementRequest.ts';
import type { PrincipalStatementReplyInput as _skein_catalog_v1_PrincipalStatementReplyInput, PrincipalStatementReply as _skein_catalog_v1_PrincipalStatementReply } from '../../../skein/catalog/v1/PrincipalStatementReply.ts';
import type { PrincipalStatementRequestInput as _skein_catalog_v1_PrincipalStatementRequestInput, PrincipalStatementRequest as _skein_catalog_v1_PrincipalStatementRequest } from '../../../skein/catalog/v1/PrincipalStatementRequest.ts';
import type { RedeemCodeRequestInput as _skein_catalog_v1_RedeemCodeRequestInput, RedeemCodeRequest as _skein_catalog_v1_RedeemCodeRequest } from '../../../skein/catalog/v1/RedeemCodeRequest.ts';
import type { RelationListInput as _skein_catalog_v1_RelationListInput, RelationList as _skein_catalog_v1_RelationList } from '../../../skein/catalog/v1/RelationList.ts';
import type { RenewSignInRequestInput as _skein_catalog_v1_RenewSignInRequestInput, RenewSignInRequest as _skein_catalog_v1_RenewSignInRequest } from '../../../skein/catalog/v1/RenewSignInRequest.ts';
import type { RescueUserReplyInput as _skein_catalog_v1_RescueUserReplyInput, RescueUserReply as _skein_catalog_v1_RescueUserReply } from '../../../skein/catalog/v1/RescueUserReply.ts';
import type { RescueUserRequestInput as _skein_catalog_v1_RescueUserRequestInput, RescueUserRequest as _skein_catalog_v1_RescueUserRequest } from '../../../skein/catalog/v1/RescueUserRequest.ts';
import type { ResealSecretsReplyInput as _skein_catalog_v1_ResealSecretsReplyInput, ResealSecretsReply as _skein_catalog_v1_ResealSecretsReply } from '../../../skein/catalog/v1/ResealSecretsReply.ts';
import type { ResealSecretsRequestInput as _skein_catalog_v1_ResealSecretsRequestInput, ResealSecretsRequest as _skein_catalog_v1_ResealSecretsRequest } from '../../../skein/catalog/v1/ResealSecretsRequest.ts';
import type { RetryJobsReplyInput as _skein_catalog_v1_RetryJobsReplyInput, RetryJobsReply as _skein_catalog_v1_RetryJobsReply } from '../../../skein/catalog/v1/RetryJobsReply.ts';
import type { RetryJobsRequestInput as _skein_catalog_v1_RetryJobsRequestInput, RetryJobsRequest as _skein_catalog_v1_RetryJobsRequest } from '../../../skein/catalog/v1/RetryJobsRequest.ts';
import type { RevokeSignInReplyInput as _skein_catalog_v1_RevokeSignInReplyInput, RevokeSignInReply as _skein_catalog_v1_RevokeSignInReply } from '../../../skein/catalog/v1/RevokeSignInReply.ts';
import type { RevokeSignInRequestInput as _skein_catalog_v1_RevokeSignInRequestInput, RevokeSignInRequest as _skein_catalog_v1_RevokeSignInRequest } from '../../../skein/catalog/v1/RevokeSignInRequest.ts';
import type { RotateClientRequestInput as _skein_catalog_v1_RotateClientRequestInput, RotateClientRequest as _skein_catalog_v1_RotateClientRequest } from '../../../skein/catalog/v1/RotateClientRequest.ts';
import type { RunOperationReplyInput as _skein_catalog_v1_RunOperationReplyInput, RunOperationReply as _skein_catalog_v1_RunOperationReply } from '../../../skein/catalog/v1/RunOperationReply.ts';
import type { RunOperationRequestInput as _skein_catalog_v1_RunOperationRequestInput, RunOperationRequest as _skein_catalog_v1_RunOperationRequest } from '../../../skein/catalog/v1/RunOperationRequest.ts';
import type { SignInReplyInput as _skein_catalog_v1_SignInReplyInput, SignInReply as _skein_catalog_v1_SignInReply } from '../../../skein/catalog/v1/SignInReply.ts';
import type { SignInRequestInput as _skein_catalog_v1_SignInRequestInput, SignInRequest as _skein_catalog_v1_SignInRequest } from '../../../skein/catalog/v1/SignInRequest.ts';
import type { SignStageRequestsRequestInput as _skein_catalog_v1_SignStageRequestsRequestInput, SignStageRequestsRequest as _skein_catalog_v1_SignStageRequestsRequest } from '../../../skein/catalog/v1/SignStageRequestsRequest.ts';
import type { SignedStageRequestsInput as _skein_catalog_v1_SignedStageRequestsInput, SignedStageRequests as _skein_catalog_v1_SignedStageRequests } from '../../../skein/catalog/v1/SignedStageRequests.ts';
import type { SigningKeysInput as _skein_catalog_v1_SigningKeysInput, SigningKeys as _skein_catalog_v1_SigningKeys } from '../../../skein/catalog/v1/SigningKeys.ts';
import type { StageInput as _skein_catalog_v1_StageInput, Stage as _skein_catalog_v1_Stage } from '../../../skein/catalog/v1/Stage.ts';
import type { StageListInput as _skein_catalog_v1_StageListInput, StageList as _skein_catalog_v1_StageList } from '../../../skein/catalog/v1/StageList.ts';
import type { StageTableRequestInput as _skein_catalog_v1_StageTableRequestInput, StageTableRequest as _skein_catalog_v1_StageTableRequest } from '../../../skein/catalog/v1/StageTableRequest.ts';
import type { StageUploadInput as _skein_catalog_v1_StageUploadInput, StageUpload as _skein_catalog_v1_StageUpload } from '../../../skein/catalog/v1/StageUpload.ts';
import type { TableListInput as _skein_catalog_v1_TableListInput, TableList as _skein_catalog_v1_TableList } from '../../../skein/catalog/v1/TableList.ts';
import type { VendKeyReplyInput as _skein_catalog_v1_VendKeyReplyInput, VendKeyReply as _skein_catalog_v1_VendKeyReply } from '../../../skein/catalog/v1/VendKeyReply.ts';
import type { VendKeyRequestInput as _skein_catalog_v1_VendKeyRequestInput, VendKeyRequest as _skein_catalog_v1_VendKeyRequest } from '../../../skein/catalog/v1/VendKeyRequest.ts';
import type { WatchEpochsRequestInput as _skein_catalog_v1_WatchEpochsRequestInput, WatchEpochsRequest as _skein_catalog_v1_WatchEpochsRequest } from '../../../skein/catalog/v1/WatchEpochsRequest.ts';

export interface CatalogInternalClient extends grpc.Client {
  AbandonCommit(argument: _skein_catalog_v1_AbandonCommitRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AbandonCommitReply>): grpc.ClientUnaryCall;
  AbandonCommit(argument: _skein_catalog_v1_AbandonCommitRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AbandonCommitReply>): grpc.ClientUnaryCall;
  AbandonCommit(argument: _skein_catalog_v1_AbandonCommitRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AbandonCommitReply>): grpc.ClientUnaryCall;
  AbandonCommit(argument: _skein_catalog_v1_AbandonCommitRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AbandonCommitReply>): grpc.ClientUnaryCall;
  abandonCommit(argument: _skein_catalog_v1_AbandonCommitRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AbandonCommitReply>): grpc.ClientUnaryCall;
  abandonCommit(argument: _skein_catalog_v1_AbandonCommitRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AbandonCommitReply>): grpc.ClientUnaryCall;
  abandonCommit(argument: _skein_catalog_v1_AbandonCommitRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AbandonCommitReply>): grpc.ClientUnaryCall;
  abandonCommit(argument: _skein_catalog_v1_AbandonCommitRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AbandonCommitReply>): grpc.ClientUnaryCall;
  
  AbortUploads(argument: _skein_catalog_v1_AbortUploadsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AbortUploadsReply>): grpc.ClientUnaryCall;
  AbortUploads(argument: _skein_catalog_v1_AbortUploadsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AbortUploadsReply>): grpc.ClientUnaryCall;
  AbortUploads(argument: _skein_catalog_v1_AbortUploadsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AbortUploadsReply>): grpc.ClientUnaryCall;
  AbortUploads(argument: _skein_catalog_v1_AbortUploadsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AbortUploadsReply>): grpc.ClientUnaryCall;
  abortUploads(argument: _skein_catalog_v1_AbortUploadsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AbortUploadsReply>): grpc.ClientUnaryCall;
  abortUploads(argument: _skein_catalog_v1_AbortUploadsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AbortUploadsReply>): grpc.ClientUnaryCall;
  abortUploads(argument: _skein_catalog_v1_AbortUploadsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AbortUploadsReply>): grpc.ClientUnaryCall;
  abortUploads(argument: _skein_catalog_v1_AbortUploadsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AbortUploadsReply>): grpc.ClientUnaryCall;
  
  AlterCatalog(argument: _skein_catalog_v1_AlterCatalogRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AlterCatalogReply>): grpc.ClientUnaryCall;
  AlterCatalog(argument: _skein_catalog_v1_AlterCatalogRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AlterCatalogReply>): grpc.ClientUnaryCall;
  AlterCatalog(argument: _skein_catalog_v1_AlterCatalogRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AlterCatalogReply>): grpc.ClientUnaryCall;
  AlterCatalog(argument: _skein_catalog_v1_AlterCatalogRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AlterCatalogReply>): grpc.ClientUnaryCall;
  alterCatalog(argument: _skein_catalog_v1_AlterCatalogRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AlterCatalogReply>): grpc.ClientUnaryCall;
  alterCatalog(argument: _skein_catalog_v1_AlterCatalogRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AlterCatalogReply>): grpc.ClientUnaryCall;
  alterCatalog(argument: _skein_catalog_v1_AlterCatalogRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AlterCatalogReply>): grpc.ClientUnaryCall;
  alterCatalog(argument: _skein_catalog_v1_AlterCatalogRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AlterCatalogReply>): grpc.ClientUnaryCall;
  
  AlterTenant(argument: _skein_catalog_v1_AlterTenantRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AlterTenantReply>): grpc.ClientUnaryCall;
  AlterTenant(argument: _skein_catalog_v1_AlterTenantRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AlterTenantReply>): grpc.ClientUnaryCall;
  AlterTenant(argument: _skein_catalog_v1_AlterTenantRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AlterTenantReply>): grpc.ClientUnaryCall;
  AlterTenant(argument: _skein_catalog_v1_AlterTenantRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AlterTenantReply>): grpc.ClientUnaryCall;
  alterTenant(argument: _skein_catalog_v1_AlterTenantRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AlterTenantReply>): grpc.ClientUnaryCall;
  alterTenant(argument: _skein_catalog_v1_AlterTenantRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AlterTenantReply>): grpc.ClientUnaryCall;
  alterTenant(argument: _skein_catalog_v1_AlterTenantRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AlterTenantReply>): grpc.ClientUnaryCall;
  alterTenant(argument: _skein_catalog_v1_AlterTenantRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AlterTenantReply>): grpc.ClientUnaryCall;
  
  Authorize(argument: _skein_catalog_v1_AuthorizeRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AuthorizeReply>): grpc.ClientUnaryCall;
  Authorize(argument: _skein_catalog_v1_AuthorizeRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AuthorizeReply>): grpc.ClientUnaryCall;
  Authorize(argument: _skein_catalog_v1_AuthorizeRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AuthorizeReply>): grpc.ClientUnaryCall;
  Authorize(argument: _skein_catalog_v1_AuthorizeRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AuthorizeReply>): grpc.ClientUnaryCall;
  authorize(argument: _skein_catalog_v1_AuthorizeRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AuthorizeReply>): grpc.ClientUnaryCall;
  authorize(argument: _skein_catalog_v1_AuthorizeRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AuthorizeReply>): grpc.ClientUnaryCall;
  authorize(argument: _skein_catalog_v1_AuthorizeRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AuthorizeReply>): grpc.ClientUnaryCall;
  authorize(argument: _skein_catalog_v1_AuthorizeRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AuthorizeReply>): grpc.ClientUnaryCall;
  
  BeginUpload(argument: _skein_catalog_v1_BeginUploadRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  BeginUpload(argument: _skein_catalog_v1_BeginUploadRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  BeginUpload(argument: _skein_catalog_v1_BeginUploadRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  BeginUpload(argument: _skein_catalog_v1_BeginUploadRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  beginUpload(argument: _skein_catalog_v1_BeginUploadRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  beginUpload(argument: _skein_catalog_v1_BeginUploadRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  beginUpload(argument: _skein_catalog_v1_BeginUploadRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  beginUpload(argument: _skein_catalog_v1_BeginUploadRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  
  Calls(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_calls_v1_CallInput, _skein_calls_v1_Answer>;
  Calls(options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_calls_v1_CallInput, _skein_calls_v1_Answer>;
  calls(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_calls_v1_CallInput, _skein_calls_v1_Answer>;
  calls(options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_calls_v1_CallInput, _skein_calls_v1_Answer>;
  
  CheckCatalog(argument: _skein_catalog_v1_CheckCatalogRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CheckCatalogReply>): grpc.ClientUnaryCall;
  CheckCatalog(argument: _skein_catalog_v1_CheckCatalogRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_CheckCatalogReply>): grpc.ClientUnaryCall;
  CheckCatalog(argument: _skein_catalog_v1_CheckCatalogRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CheckCatalogReply>): grpc.ClientUnaryCall;
  CheckCatalog(argument: _skein_catalog_v1_CheckCatalogRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_CheckCatalogReply>): grpc.ClientUnaryCall;
  checkCatalog(argument: _skein_catalog_v1_CheckCatalogRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CheckCatalogReply>): grpc.ClientUnaryCall;
  checkCatalog(argument: _skein_catalog_v1_CheckCatalogRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_CheckCatalogReply>): grpc.ClientUnaryCall;
  checkCatalog(argument: _skein_catalog_v1_CheckCatalogRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CheckCatalogReply>): grpc.ClientUnaryCall;
  checkCatalog(argument: _skein_catalog_v1_CheckCatalogRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_CheckCatalogReply>): grpc.ClientUnaryCall;
  
  CommitTables(argument: _skein_catalog_v1_CommitTablesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CommitTablesReply>): grpc.ClientUnaryCall;
  CommitTables(argument: _skein_catalog_v1_CommitTablesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_CommitTablesReply>): grpc.ClientUnaryCall;
  CommitTables(argument: _skein_catalog_v1_CommitTablesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CommitTablesReply>): grpc.ClientUnaryCall;
  CommitTables(argument: _skein_catalog_v1_CommitTablesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_CommitTablesReply>): grpc.ClientUnaryCall;
  commitTables(argument: _skein_catalog_v1_CommitTablesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CommitTablesReply>): grpc.ClientUnaryCall;
  commitTables(argument: _skein_catalog_v1_CommitTablesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_CommitTablesReply>): grpc.ClientUnaryCall;
  commitTables(argument: _skein_catalog_v1_CommitTablesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CommitTablesReply>): grpc.ClientUnaryCall;
  commitTables(argument: _skein_catalog_v1_CommitTablesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_CommitTablesReply>): grpc.ClientUnaryCall;
  
  CreateCatalog(argument: _skein_catalog_v1_CreateCatalogRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CreateCatalogReply>): grpc.ClientUnaryCall;
  CreateCatalog(argument: _skein_catalog_v1_CreateCatalogRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_CreateCatalogReply>): grpc.ClientUnaryCall;
  CreateCatalog(argument: _skein_catalog_v1_CreateCatalogRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CreateCatalogReply>): grpc.ClientUnaryCall;
  CreateCatalog(argument: _skein_catalog_v1_CreateCatalogRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_CreateCatalogReply>): grpc.ClientUnaryCall;
  createCatalog(argument: _skein_catalog_v1_CreateCatalogRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CreateCatalogReply>): grpc.ClientUnaryCall;
  createCatalog(argument: _skein_catalog_v1_CreateCatalogRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_CreateCatalogReply>): grpc.ClientUnaryCall;
  createCatalog(argument: _skein_catalog_v1_CreateCatalogRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CreateCatalogReply>): grpc.ClientUnaryCall;
  createCatalog(argument: _skein_catalog_v1_CreateCatalogRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_CreateCatalogReply>): grpc.ClientUnaryCall;
  
  CreateClient(argument: _skein_catalog_v1_CreateClientRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  CreateClient(argument: _skein_catalog_v1_CreateClientRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  CreateClient(argument: _skein_catalog_v1_CreateClientRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  CreateClient(argument: _skein_catalog_v1_CreateClientRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  createClient(argument: _skein_catalog_v1_CreateClientRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  createClient(argument: _skein_catalog_v1_CreateClientRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  createClient(argument: _skein_catalog_v1_CreateClientRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  createClient(argument: _skein_catalog_v1_CreateClientRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  
  CreateTenant(argument: _skein_catalog_v1_CreateTenantRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CreateTenantReply>): grpc.ClientUnaryCall;
  CreateTenant(argument: _skein_catalog_v1_CreateTenantRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_CreateTenantReply>): grpc.ClientUnaryCall;
  CreateTenant(argument: _skein_catalog_v1_CreateTenantRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CreateTenantReply>): grpc.ClientUnaryCall;
  CreateTenant(argument: _skein_catalog_v1_CreateTenantRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_CreateTenantReply>): grpc.ClientUnaryCall;
  createTenant(argument: _skein_catalog_v1_CreateTenantRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CreateTenantReply>): grpc.ClientUnaryCall;
  createTenant(argument: _skein_catalog_v1_CreateTenantRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_CreateTenantReply>): grpc.ClientUnaryCall;
  createTenant(argument: _skein_catalog_v1_CreateTenantRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CreateTenantReply>): grpc.ClientUnaryCall;
  createTenant(argument: _skein_catalog_v1_CreateTenantRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_CreateTenantReply>): grpc.ClientUnaryCall;
  
  DescribeCatalogs(argument: _skein_catalog_v1_DescribeCatalogsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CatalogList>): grpc.ClientUnaryCall;
  DescribeCatalogs(argument: _skein_catalog_v1_DescribeCatalogsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_CatalogList>): grpc.ClientUnaryCall;
  DescribeCatalogs(argument: _skein_catalog_v1_DescribeCatalogsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CatalogList>): grpc.ClientUnaryCall;
  DescribeCatalogs(argument: _skein_catalog_v1_DescribeCatalogsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_CatalogList>): grpc.ClientUnaryCall;
  describeCatalogs(argument: _skein_catalog_v1_DescribeCatalogsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CatalogList>): grpc.ClientUnaryCall;
  describeCatalogs(argument: _skein_catalog_v1_DescribeCatalogsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_CatalogList>): grpc.ClientUnaryCall;
  describeCatalogs(argument: _skein_catalog_v1_DescribeCatalogsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_CatalogList>): grpc.ClientUnaryCall;
  describeCatalogs(argument: _skein_catalog_v1_DescribeCatalogsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_CatalogList>): grpc.ClientUnaryCall;
  
  DropCatalog(argument: _skein_catalog_v1_DropCatalogRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropCatalogReply>): grpc.ClientUnaryCall;
  DropCatalog(argument: _skein_catalog_v1_DropCatalogRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_DropCatalogReply>): grpc.ClientUnaryCall;
  DropCatalog(argument: _skein_catalog_v1_DropCatalogRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropCatalogReply>): grpc.ClientUnaryCall;
  DropCatalog(argument: _skein_catalog_v1_DropCatalogRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_DropCatalogReply>): grpc.ClientUnaryCall;
  dropCatalog(argument: _skein_catalog_v1_DropCatalogRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropCatalogReply>): grpc.ClientUnaryCall;
  dropCatalog(argument: _skein_catalog_v1_DropCatalogRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_DropCatalogReply>): grpc.ClientUnaryCall;
  dropCatalog(argument: _skein_catalog_v1_DropCatalogRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropCatalogReply>): grpc.ClientUnaryCall;
  dropCatalog(argument: _skein_catalog_v1_DropCatalogRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_DropCatalogReply>): grpc.ClientUnaryCall;
  
  DropClient(argument: _skein_catalog_v1_DropClientRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropClientReply>): grpc.ClientUnaryCall;
  DropClient(argument: _skein_catalog_v1_DropClientRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_DropClientReply>): grpc.ClientUnaryCall;
  DropClient(argument: _skein_catalog_v1_DropClientRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropClientReply>): grpc.ClientUnaryCall;
  DropClient(argument: _skein_catalog_v1_DropClientRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_DropClientReply>): grpc.ClientUnaryCall;
  dropClient(argument: _skein_catalog_v1_DropClientRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropClientReply>): grpc.ClientUnaryCall;
  dropClient(argument: _skein_catalog_v1_DropClientRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_DropClientReply>): grpc.ClientUnaryCall;
  dropClient(argument: _skein_catalog_v1_DropClientRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropClientReply>): grpc.ClientUnaryCall;
  dropClient(argument: _skein_catalog_v1_DropClientRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_DropClientReply>): grpc.ClientUnaryCall;
  
  DropTenant(argument: _skein_catalog_v1_DropTenantRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropTenantReply>): grpc.ClientUnaryCall;
  DropTenant(argument: _skein_catalog_v1_DropTenantRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_DropTenantReply>): grpc.ClientUnaryCall;
  DropTenant(argument: _skein_catalog_v1_DropTenantRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropTenantReply>): grpc.ClientUnaryCall;
  DropTenant(argument: _skein_catalog_v1_DropTenantRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_DropTenantReply>): grpc.ClientUnaryCall;
  dropTenant(argument: _skein_catalog_v1_DropTenantRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropTenantReply>): grpc.ClientUnaryCall;
  dropTenant(argument: _skein_catalog_v1_DropTenantRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_DropTenantReply>): grpc.ClientUnaryCall;
  dropTenant(argument: _skein_catalog_v1_DropTenantRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DropTenantReply>): grpc.ClientUnaryCall;
  dropTenant(argument: _skein_catalog_v1_DropTenantRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_DropTenantReply>): grpc.ClientUnaryCall;
  
  EndUpload(argument: _skein_catalog_v1_EndUploadRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_EndUploadReply>): grpc.ClientUnaryCall;
  EndUpload(argument: _skein_catalog_v1_EndUploadRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_EndUploadReply>): grpc.ClientUnaryCall;
  EndUpload(argument: _skein_catalog_v1_EndUploadRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_EndUploadReply>): grpc.ClientUnaryCall;
  EndUpload(argument: _skein_catalog_v1_EndUploadRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_EndUploadReply>): grpc.ClientUnaryCall;
  endUpload(argument: _skein_catalog_v1_EndUploadRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_EndUploadReply>): grpc.ClientUnaryCall;
  endUpload(argument: _skein_catalog_v1_EndUploadRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_EndUploadReply>): grpc.ClientUnaryCall;
  endUpload(argument: _skein_catalog_v1_EndUploadRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_EndUploadReply>): grpc.ClientUnaryCall;
  endUpload(argument: _skein_catalog_v1_EndUploadRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_EndUploadReply>): grpc.ClientUnaryCall;
  
  ExportAuditLog(argument: _skein_catalog_v1_ExportAuditLogRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AuditPage>): grpc.ClientUnaryCall;
  ExportAuditLog(argument: _skein_catalog_v1_ExportAuditLogRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AuditPage>): grpc.ClientUnaryCall;
  ExportAuditLog(argument: _skein_catalog_v1_ExportAuditLogRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AuditPage>): grpc.ClientUnaryCall;
  ExportAuditLog(argument: _skein_catalog_v1_ExportAuditLogRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AuditPage>): grpc.ClientUnaryCall;
  exportAuditLog(argument: _skein_catalog_v1_ExportAuditLogRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AuditPage>): grpc.ClientUnaryCall;
  exportAuditLog(argument: _skein_catalog_v1_ExportAuditLogRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_AuditPage>): grpc.ClientUnaryCall;
  exportAuditLog(argument: _skein_catalog_v1_ExportAuditLogRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_AuditPage>): grpc.ClientUnaryCall;
  exportAuditLog(argument: _skein_catalog_v1_ExportAuditLogRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_AuditPage>): grpc.ClientUnaryCall;
  
  FindFolders(argument: _skein_catalog_v1_FindFoldersRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_FindFoldersReply>): grpc.ClientUnaryCall;
  FindFolders(argument: _skein_catalog_v1_FindFoldersRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_FindFoldersReply>): grpc.ClientUnaryCall;
  FindFolders(argument: _skein_catalog_v1_FindFoldersRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_FindFoldersReply>): grpc.ClientUnaryCall;
  FindFolders(argument: _skein_catalog_v1_FindFoldersRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_FindFoldersReply>): grpc.ClientUnaryCall;
  findFolders(argument: _skein_catalog_v1_FindFoldersRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_FindFoldersReply>): grpc.ClientUnaryCall;
  findFolders(argument: _skein_catalog_v1_FindFoldersRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_FindFoldersReply>): grpc.ClientUnaryCall;
  findFolders(argument: _skein_catalog_v1_FindFoldersRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_FindFoldersReply>): grpc.ClientUnaryCall;
  findFolders(argument: _skein_catalog_v1_FindFoldersRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_FindFoldersReply>): grpc.ClientUnaryCall;
  
  FindLoads(argument: _skein_catalog_v1_FindLoadsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_FindLoadsReply>): grpc.ClientUnaryCall;
  FindLoads(argument: _skein_catalog_v1_FindLoadsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_FindLoadsReply>): grpc.ClientUnaryCall;
  FindLoads(argument: _skein_catalog_v1_FindLoadsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_FindLoadsReply>): grpc.ClientUnaryCall;
  FindLoads(argument: _skein_catalog_v1_FindLoadsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_FindLoadsReply>): grpc.ClientUnaryCall;
  findLoads(argument: _skein_catalog_v1_FindLoadsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_FindLoadsReply>): grpc.ClientUnaryCall;
  findLoads(argument: _skein_catalog_v1_FindLoadsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_FindLoadsReply>): grpc.ClientUnaryCall;
  findLoads(argument: _skein_catalog_v1_FindLoadsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_FindLoadsReply>): grpc.ClientUnaryCall;
  findLoads(argument: _skein_catalog_v1_FindLoadsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_FindLoadsReply>): grpc.ClientUnaryCall;
  
  FindUpload(argument: _skein_catalog_v1_FindUploadRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  FindUpload(argument: _skein_catalog_v1_FindUploadRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  FindUpload(argument: _skein_catalog_v1_FindUploadRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  FindUpload(argument: _skein_catalog_v1_FindUploadRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  findUpload(argument: _skein_catalog_v1_FindUploadRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  findUpload(argument: _skein_catalog_v1_FindUploadRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  findUpload(argument: _skein_catalog_v1_FindUploadRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  findUpload(argument: _skein_catalog_v1_FindUploadRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_StageUpload>): grpc.ClientUnaryCall;
  
  GetMoment(argument: _skein_catalog_v1_GetMomentRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_GetMomentReply>): grpc.ClientUnaryCall;
  GetMoment(argument: _skein_catalog_v1_GetMomentRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_GetMomentReply>): grpc.ClientUnaryCall;
  GetMoment(argument: _skein_catalog_v1_GetMomentRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_GetMomentReply>): grpc.ClientUnaryCall;
  GetMoment(argument: _skein_catalog_v1_GetMomentRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_GetMomentReply>): grpc.ClientUnaryCall;
  getMoment(argument: _skein_catalog_v1_GetMomentRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_GetMomentReply>): grpc.ClientUnaryCall;
  getMoment(argument: _skein_catalog_v1_GetMomentRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_GetMomentReply>): grpc.ClientUnaryCall;
  getMoment(argument: _skein_catalog_v1_GetMomentRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_GetMomentReply>): grpc.ClientUnaryCall;
  getMoment(argument: _skein_catalog_v1_GetMomentRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_GetMomentReply>): grpc.ClientUnaryCall;
  
  GetSigningKeys(argument: _skein_catalog_v1_GetSigningKeysRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SigningKeys>): grpc.ClientUnaryCall;
  GetSigningKeys(argument: _skein_catalog_v1_GetSigningKeysRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_SigningKeys>): grpc.ClientUnaryCall;
  GetSigningKeys(argument: _skein_catalog_v1_GetSigningKeysRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SigningKeys>): grpc.ClientUnaryCall;
  GetSigningKeys(argument: _skein_catalog_v1_GetSigningKeysRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_SigningKeys>): grpc.ClientUnaryCall;
  getSigningKeys(argument: _skein_catalog_v1_GetSigningKeysRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SigningKeys>): grpc.ClientUnaryCall;
  getSigningKeys(argument: _skein_catalog_v1_GetSigningKeysRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_SigningKeys>): grpc.ClientUnaryCall;
  getSigningKeys(argument: _skein_catalog_v1_GetSigningKeysRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SigningKeys>): grpc.ClientUnaryCall;
  getSigningKeys(argument: _skein_catalog_v1_GetSigningKeysRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_SigningKeys>): grpc.ClientUnaryCall;
  
  HoldAnswers(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_catalog_v1_LeaseRequestInput, _skein_catalog_v1_Lease>;
  HoldAnswers(options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_catalog_v1_LeaseRequestInput, _skein_catalog_v1_Lease>;
  holdAnswers(metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_catalog_v1_LeaseRequestInput, _skein_catalog_v1_Lease>;
  holdAnswers(options?: grpc.CallOptions): grpc.ClientDuplexStream<_skein_catalog_v1_LeaseRequestInput, _skein_catalog_v1_Lease>;
  
  ListCatalogs(argument: _skein_catalog_v1_ListCatalogsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  ListCatalogs(argument: _skein_catalog_v1_ListCatalogsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  ListCatalogs(argument: _skein_catalog_v1_ListCatalogsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  ListCatalogs(argument: _skein_catalog_v1_ListCatalogsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  listCatalogs(argument: _skein_catalog_v1_ListCatalogsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  listCatalogs(argument: _skein_catalog_v1_ListCatalogsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  listCatalogs(argument: _skein_catalog_v1_ListCatalogsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  listCatalogs(argument: _skein_catalog_v1_ListCatalogsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  
  ListChanges(argument: _skein_catalog_v1_ListChangesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ChangeList>): grpc.ClientUnaryCall;
  ListChanges(argument: _skein_catalog_v1_ListChangesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_ChangeList>): grpc.ClientUnaryCall;
  ListChanges(argument: _skein_catalog_v1_ListChangesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ChangeList>): grpc.ClientUnaryCall;
  ListChanges(argument: _skein_catalog_v1_ListChangesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_ChangeList>): grpc.ClientUnaryCall;
  listChanges(argument: _skein_catalog_v1_ListChangesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ChangeList>): grpc.ClientUnaryCall;
  listChanges(argument: _skein_catalog_v1_ListChangesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_ChangeList>): grpc.ClientUnaryCall;
  listChanges(argument: _skein_catalog_v1_ListChangesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ChangeList>): grpc.ClientUnaryCall;
  listChanges(argument: _skein_catalog_v1_ListChangesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_ChangeList>): grpc.ClientUnaryCall;
  
  ListClients(argument: _skein_catalog_v1_ListClientsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientList>): grpc.ClientUnaryCall;
  ListClients(argument: _skein_catalog_v1_ListClientsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_ClientList>): grpc.ClientUnaryCall;
  ListClients(argument: _skein_catalog_v1_ListClientsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientList>): grpc.ClientUnaryCall;
  ListClients(argument: _skein_catalog_v1_ListClientsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_ClientList>): grpc.ClientUnaryCall;
  listClients(argument: _skein_catalog_v1_ListClientsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientList>): grpc.ClientUnaryCall;
  listClients(argument: _skein_catalog_v1_ListClientsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_ClientList>): grpc.ClientUnaryCall;
  listClients(argument: _skein_catalog_v1_ListClientsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientList>): grpc.ClientUnaryCall;
  listClients(argument: _skein_catalog_v1_ListClientsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_ClientList>): grpc.ClientUnaryCall;
  
  ListDropped(argument: _skein_catalog_v1_ListDroppedRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DroppedList>): grpc.ClientUnaryCall;
  ListDropped(argument: _skein_catalog_v1_ListDroppedRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_DroppedList>): grpc.ClientUnaryCall;
  ListDropped(argument: _skein_catalog_v1_ListDroppedRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DroppedList>): grpc.ClientUnaryCall;
  ListDropped(argument: _skein_catalog_v1_ListDroppedRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_DroppedList>): grpc.ClientUnaryCall;
  listDropped(argument: _skein_catalog_v1_ListDroppedRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DroppedList>): grpc.ClientUnaryCall;
  listDropped(argument: _skein_catalog_v1_ListDroppedRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_DroppedList>): grpc.ClientUnaryCall;
  listDropped(argument: _skein_catalog_v1_ListDroppedRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_DroppedList>): grpc.ClientUnaryCall;
  listDropped(argument: _skein_catalog_v1_ListDroppedRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_DroppedList>): grpc.ClientUnaryCall;
  
  ListJobs(argument: _skein_catalog_v1_ListJobsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_JobList>): grpc.ClientUnaryCall;
  ListJobs(argument: _skein_catalog_v1_ListJobsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_JobList>): grpc.ClientUnaryCall;
  ListJobs(argument: _skein_catalog_v1_ListJobsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_JobList>): grpc.ClientUnaryCall;
  ListJobs(argument: _skein_catalog_v1_ListJobsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_JobList>): grpc.ClientUnaryCall;
  listJobs(argument: _skein_catalog_v1_ListJobsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_JobList>): grpc.ClientUnaryCall;
  listJobs(argument: _skein_catalog_v1_ListJobsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_JobList>): grpc.ClientUnaryCall;
  listJobs(argument: _skein_catalog_v1_ListJobsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_JobList>): grpc.ClientUnaryCall;
  listJobs(argument: _skein_catalog_v1_ListJobsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_JobList>): grpc.ClientUnaryCall;
  
  ListNamespaces(argument: _skein_catalog_v1_ListNamespacesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NamespaceList>): grpc.ClientUnaryCall;
  ListNamespaces(argument: _skein_catalog_v1_ListNamespacesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_NamespaceList>): grpc.ClientUnaryCall;
  ListNamespaces(argument: _skein_catalog_v1_ListNamespacesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NamespaceList>): grpc.ClientUnaryCall;
  ListNamespaces(argument: _skein_catalog_v1_ListNamespacesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_NamespaceList>): grpc.ClientUnaryCall;
  listNamespaces(argument: _skein_catalog_v1_ListNamespacesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NamespaceList>): grpc.ClientUnaryCall;
  listNamespaces(argument: _skein_catalog_v1_ListNamespacesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_NamespaceList>): grpc.ClientUnaryCall;
  listNamespaces(argument: _skein_catalog_v1_ListNamespacesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NamespaceList>): grpc.ClientUnaryCall;
  listNamespaces(argument: _skein_catalog_v1_ListNamespacesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_NamespaceList>): grpc.ClientUnaryCall;
  
  ListRelations(argument: _skein_catalog_v1_ListRelationsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RelationList>): grpc.ClientUnaryCall;
  ListRelations(argument: _skein_catalog_v1_ListRelationsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_RelationList>): grpc.ClientUnaryCall;
  ListRelations(argument: _skein_catalog_v1_ListRelationsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RelationList>): grpc.ClientUnaryCall;
  ListRelations(argument: _skein_catalog_v1_ListRelationsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_RelationList>): grpc.ClientUnaryCall;
  listRelations(argument: _skein_catalog_v1_ListRelationsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RelationList>): grpc.ClientUnaryCall;
  listRelations(argument: _skein_catalog_v1_ListRelationsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_RelationList>): grpc.ClientUnaryCall;
  listRelations(argument: _skein_catalog_v1_ListRelationsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RelationList>): grpc.ClientUnaryCall;
  listRelations(argument: _skein_catalog_v1_ListRelationsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_RelationList>): grpc.ClientUnaryCall;
  
  ListStages(argument: _skein_catalog_v1_ListStagesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageList>): grpc.ClientUnaryCall;
  ListStages(argument: _skein_catalog_v1_ListStagesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_StageList>): grpc.ClientUnaryCall;
  ListStages(argument: _skein_catalog_v1_ListStagesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageList>): grpc.ClientUnaryCall;
  ListStages(argument: _skein_catalog_v1_ListStagesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_StageList>): grpc.ClientUnaryCall;
  listStages(argument: _skein_catalog_v1_ListStagesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageList>): grpc.ClientUnaryCall;
  listStages(argument: _skein_catalog_v1_ListStagesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_StageList>): grpc.ClientUnaryCall;
  listStages(argument: _skein_catalog_v1_ListStagesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_StageList>): grpc.ClientUnaryCall;
  listStages(argument: _skein_catalog_v1_ListStagesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_StageList>): grpc.ClientUnaryCall;
  
  ListTables(argument: _skein_catalog_v1_ListTablesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_TableList>): grpc.ClientUnaryCall;
  ListTables(argument: _skein_catalog_v1_ListTablesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_TableList>): grpc.ClientUnaryCall;
  ListTables(argument: _skein_catalog_v1_ListTablesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_TableList>): grpc.ClientUnaryCall;
  ListTables(argument: _skein_catalog_v1_ListTablesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_TableList>): grpc.ClientUnaryCall;
  listTables(argument: _skein_catalog_v1_ListTablesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_TableList>): grpc.ClientUnaryCall;
  listTables(argument: _skein_catalog_v1_ListTablesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_TableList>): grpc.ClientUnaryCall;
  listTables(argument: _skein_catalog_v1_ListTablesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_TableList>): grpc.ClientUnaryCall;
  listTables(argument: _skein_catalog_v1_ListTablesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_TableList>): grpc.ClientUnaryCall;
  
  ListTenants(argument: _skein_catalog_v1_ListTenantsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  ListTenants(argument: _skein_catalog_v1_ListTenantsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  ListTenants(argument: _skein_catalog_v1_ListTenantsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  ListTenants(argument: _skein_catalog_v1_ListTenantsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  listTenants(argument: _skein_catalog_v1_ListTenantsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  listTenants(argument: _skein_catalog_v1_ListTenantsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  listTenants(argument: _skein_catalog_v1_ListTenantsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  listTenants(argument: _skein_catalog_v1_ListTenantsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_NameList>): grpc.ClientUnaryCall;
  
  LoadTables(argument: _skein_catalog_v1_LoadTablesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_LoadTablesReply>): grpc.ClientUnaryCall;
  LoadTables(argument: _skein_catalog_v1_LoadTablesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_LoadTablesReply>): grpc.ClientUnaryCall;
  LoadTables(argument: _skein_catalog_v1_LoadTablesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_LoadTablesReply>): grpc.ClientUnaryCall;
  LoadTables(argument: _skein_catalog_v1_LoadTablesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_LoadTablesReply>): grpc.ClientUnaryCall;
  loadTables(argument: _skein_catalog_v1_LoadTablesRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_LoadTablesReply>): grpc.ClientUnaryCall;
  loadTables(argument: _skein_catalog_v1_LoadTablesRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_LoadTablesReply>): grpc.ClientUnaryCall;
  loadTables(argument: _skein_catalog_v1_LoadTablesRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_LoadTablesReply>): grpc.ClientUnaryCall;
  loadTables(argument: _skein_catalog_v1_LoadTablesRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_LoadTablesReply>): grpc.ClientUnaryCall;
  
  MintToken(argument: _skein_catalog_v1_MintTokenRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_MintTokenReply>): grpc.ClientUnaryCall;
  MintToken(argument: _skein_catalog_v1_MintTokenRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_MintTokenReply>): grpc.ClientUnaryCall;
  MintToken(argument: _skein_catalog_v1_MintTokenRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_MintTokenReply>): grpc.ClientUnaryCall;
  MintToken(argument: _skein_catalog_v1_MintTokenRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_MintTokenReply>): grpc.ClientUnaryCall;
  mintToken(argument: _skein_catalog_v1_MintTokenRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_MintTokenReply>): grpc.ClientUnaryCall;
  mintToken(argument: _skein_catalog_v1_MintTokenRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_MintTokenReply>): grpc.ClientUnaryCall;
  mintToken(argument: _skein_catalog_v1_MintTokenRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_MintTokenReply>): grpc.ClientUnaryCall;
  mintToken(argument: _skein_catalog_v1_MintTokenRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_MintTokenReply>): grpc.ClientUnaryCall;
  
  OpenStage(argument: _skein_catalog_v1_OpenStageRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_Stage>): grpc.ClientUnaryCall;
  OpenStage(argument: _skein_catalog_v1_OpenStageRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_Stage>): grpc.ClientUnaryCall;
  OpenStage(argument: _skein_catalog_v1_OpenStageRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_Stage>): grpc.ClientUnaryCall;
  OpenStage(argument: _skein_catalog_v1_OpenStageRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_Stage>): grpc.ClientUnaryCall;
  openStage(argument: _skein_catalog_v1_OpenStageRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_Stage>): grpc.ClientUnaryCall;
  openStage(argument: _skein_catalog_v1_OpenStageRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_Stage>): grpc.ClientUnaryCall;
  openStage(argument: _skein_catalog_v1_OpenStageRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_Stage>): grpc.ClientUnaryCall;
  openStage(argument: _skein_catalog_v1_OpenStageRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_Stage>): grpc.ClientUnaryCall;
  
  RedeemCode(argument: _skein_catalog_v1_RedeemCodeRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  RedeemCode(argument: _skein_catalog_v1_RedeemCodeRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  RedeemCode(argument: _skein_catalog_v1_RedeemCodeRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  RedeemCode(argument: _skein_catalog_v1_RedeemCodeRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  redeemCode(argument: _skein_catalog_v1_RedeemCodeRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  redeemCode(argument: _skein_catalog_v1_RedeemCodeRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  redeemCode(argument: _skein_catalog_v1_RedeemCodeRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  redeemCode(argument: _skein_catalog_v1_RedeemCodeRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  
  RenewSignIn(argument: _skein_catalog_v1_RenewSignInRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  RenewSignIn(argument: _skein_catalog_v1_RenewSignInRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  RenewSignIn(argument: _skein_catalog_v1_RenewSignInRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  RenewSignIn(argument: _skein_catalog_v1_RenewSignInRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  renewSignIn(argument: _skein_catalog_v1_RenewSignInRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  renewSignIn(argument: _skein_catalog_v1_RenewSignInRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  renewSignIn(argument: _skein_catalog_v1_RenewSignInRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  renewSignIn(argument: _skein_catalog_v1_RenewSignInRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_PersonTokens>): grpc.ClientUnaryCall;
  
  RescueUser(argument: _skein_catalog_v1_RescueUserRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RescueUserReply>): grpc.ClientUnaryCall;
  RescueUser(argument: _skein_catalog_v1_RescueUserRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_RescueUserReply>): grpc.ClientUnaryCall;
  RescueUser(argument: _skein_catalog_v1_RescueUserRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RescueUserReply>): grpc.ClientUnaryCall;
  RescueUser(argument: _skein_catalog_v1_RescueUserRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_RescueUserReply>): grpc.ClientUnaryCall;
  rescueUser(argument: _skein_catalog_v1_RescueUserRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RescueUserReply>): grpc.ClientUnaryCall;
  rescueUser(argument: _skein_catalog_v1_RescueUserRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_RescueUserReply>): grpc.ClientUnaryCall;
  rescueUser(argument: _skein_catalog_v1_RescueUserRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RescueUserReply>): grpc.ClientUnaryCall;
  rescueUser(argument: _skein_catalog_v1_RescueUserRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_RescueUserReply>): grpc.ClientUnaryCall;
  
  ResealSecrets(argument: _skein_catalog_v1_ResealSecretsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ResealSecretsReply>): grpc.ClientUnaryCall;
  ResealSecrets(argument: _skein_catalog_v1_ResealSecretsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_ResealSecretsReply>): grpc.ClientUnaryCall;
  ResealSecrets(argument: _skein_catalog_v1_ResealSecretsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ResealSecretsReply>): grpc.ClientUnaryCall;
  ResealSecrets(argument: _skein_catalog_v1_ResealSecretsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_ResealSecretsReply>): grpc.ClientUnaryCall;
  resealSecrets(argument: _skein_catalog_v1_ResealSecretsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ResealSecretsReply>): grpc.ClientUnaryCall;
  resealSecrets(argument: _skein_catalog_v1_ResealSecretsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_ResealSecretsReply>): grpc.ClientUnaryCall;
  resealSecrets(argument: _skein_catalog_v1_ResealSecretsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ResealSecretsReply>): grpc.ClientUnaryCall;
  resealSecrets(argument: _skein_catalog_v1_ResealSecretsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_ResealSecretsReply>): grpc.ClientUnaryCall;
  
  RetryJobs(argument: _skein_catalog_v1_RetryJobsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RetryJobsReply>): grpc.ClientUnaryCall;
  RetryJobs(argument: _skein_catalog_v1_RetryJobsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_RetryJobsReply>): grpc.ClientUnaryCall;
  RetryJobs(argument: _skein_catalog_v1_RetryJobsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RetryJobsReply>): grpc.ClientUnaryCall;
  RetryJobs(argument: _skein_catalog_v1_RetryJobsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_RetryJobsReply>): grpc.ClientUnaryCall;
  retryJobs(argument: _skein_catalog_v1_RetryJobsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RetryJobsReply>): grpc.ClientUnaryCall;
  retryJobs(argument: _skein_catalog_v1_RetryJobsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_RetryJobsReply>): grpc.ClientUnaryCall;
  retryJobs(argument: _skein_catalog_v1_RetryJobsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RetryJobsReply>): grpc.ClientUnaryCall;
  retryJobs(argument: _skein_catalog_v1_RetryJobsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_RetryJobsReply>): grpc.ClientUnaryCall;
  
  RevokeSignIn(argument: _skein_catalog_v1_RevokeSignInRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RevokeSignInReply>): grpc.ClientUnaryCall;
  RevokeSignIn(argument: _skein_catalog_v1_RevokeSignInRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_RevokeSignInReply>): grpc.ClientUnaryCall;
  RevokeSignIn(argument: _skein_catalog_v1_RevokeSignInRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RevokeSignInReply>): grpc.ClientUnaryCall;
  RevokeSignIn(argument: _skein_catalog_v1_RevokeSignInRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_RevokeSignInReply>): grpc.ClientUnaryCall;
  revokeSignIn(argument: _skein_catalog_v1_RevokeSignInRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RevokeSignInReply>): grpc.ClientUnaryCall;
  revokeSignIn(argument: _skein_catalog_v1_RevokeSignInRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_RevokeSignInReply>): grpc.ClientUnaryCall;
  revokeSignIn(argument: _skein_catalog_v1_RevokeSignInRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RevokeSignInReply>): grpc.ClientUnaryCall;
  revokeSignIn(argument: _skein_catalog_v1_RevokeSignInRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_RevokeSignInReply>): grpc.ClientUnaryCall;
  
  RotateClient(argument: _skein_catalog_v1_RotateClientRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  RotateClient(argument: _skein_catalog_v1_RotateClientRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  RotateClient(argument: _skein_catalog_v1_RotateClientRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  RotateClient(argument: _skein_catalog_v1_RotateClientRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  rotateClient(argument: _skein_catalog_v1_RotateClientRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  rotateClient(argument: _skein_catalog_v1_RotateClientRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  rotateClient(argument: _skein_catalog_v1_RotateClientRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  rotateClient(argument: _skein_catalog_v1_RotateClientRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_ClientSecret>): grpc.ClientUnaryCall;
  
  RunOperation(argument: _skein_catalog_v1_RunOperationRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RunOperationReply>): grpc.ClientUnaryCall;
  RunOperation(argument: _skein_catalog_v1_RunOperationRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_RunOperationReply>): grpc.ClientUnaryCall;
  RunOperation(argument: _skein_catalog_v1_RunOperationRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RunOperationReply>): grpc.ClientUnaryCall;
  RunOperation(argument: _skein_catalog_v1_RunOperationRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_RunOperationReply>): grpc.ClientUnaryCall;
  runOperation(argument: _skein_catalog_v1_RunOperationRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RunOperationReply>): grpc.ClientUnaryCall;
  runOperation(argument: _skein_catalog_v1_RunOperationRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_RunOperationReply>): grpc.ClientUnaryCall;
  runOperation(argument: _skein_catalog_v1_RunOperationRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_RunOperationReply>): grpc.ClientUnaryCall;
  runOperation(argument: _skein_catalog_v1_RunOperationRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_RunOperationReply>): grpc.ClientUnaryCall;
  
  RunPolicyStatement(argument: _skein_catalog_v1_PolicyStatementRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PolicyStatementReply>): grpc.ClientUnaryCall;
  RunPolicyStatement(argument: _skein_catalog_v1_PolicyStatementRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_PolicyStatementReply>): grpc.ClientUnaryCall;
  RunPolicyStatement(argument: _skein_catalog_v1_PolicyStatementRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PolicyStatementReply>): grpc.ClientUnaryCall;
  RunPolicyStatement(argument: _skein_catalog_v1_PolicyStatementRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_PolicyStatementReply>): grpc.ClientUnaryCall;
  runPolicyStatement(argument: _skein_catalog_v1_PolicyStatementRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PolicyStatementReply>): grpc.ClientUnaryCall;
  runPolicyStatement(argument: _skein_catalog_v1_PolicyStatementRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_PolicyStatementReply>): grpc.ClientUnaryCall;
  runPolicyStatement(argument: _skein_catalog_v1_PolicyStatementRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PolicyStatementReply>): grpc.ClientUnaryCall;
  runPolicyStatement(argument: _skein_catalog_v1_PolicyStatementRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_PolicyStatementReply>): grpc.ClientUnaryCall;
  
  RunPrincipalStatement(argument: _skein_catalog_v1_PrincipalStatementRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PrincipalStatementReply>): grpc.ClientUnaryCall;
  RunPrincipalStatement(argument: _skein_catalog_v1_PrincipalStatementRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_PrincipalStatementReply>): grpc.ClientUnaryCall;
  RunPrincipalStatement(argument: _skein_catalog_v1_PrincipalStatementRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PrincipalStatementReply>): grpc.ClientUnaryCall;
  RunPrincipalStatement(argument: _skein_catalog_v1_PrincipalStatementRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_PrincipalStatementReply>): grpc.ClientUnaryCall;
  runPrincipalStatement(argument: _skein_catalog_v1_PrincipalStatementRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PrincipalStatementReply>): grpc.ClientUnaryCall;
  runPrincipalStatement(argument: _skein_catalog_v1_PrincipalStatementRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_PrincipalStatementReply>): grpc.ClientUnaryCall;
  runPrincipalStatement(argument: _skein_catalog_v1_PrincipalStatementRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_PrincipalStatementReply>): grpc.ClientUnaryCall;
  runPrincipalStatement(argument: _skein_catalog_v1_PrincipalStatementRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_PrincipalStatementReply>): grpc.ClientUnaryCall;
  
  SignIn(argument: _skein_catalog_v1_SignInRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SignInReply>): grpc.ClientUnaryCall;
  SignIn(argument: _skein_catalog_v1_SignInRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_SignInReply>): grpc.ClientUnaryCall;
  SignIn(argument: _skein_catalog_v1_SignInRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SignInReply>): grpc.ClientUnaryCall;
  SignIn(argument: _skein_catalog_v1_SignInRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_SignInReply>): grpc.ClientUnaryCall;
  signIn(argument: _skein_catalog_v1_SignInRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SignInReply>): grpc.ClientUnaryCall;
  signIn(argument: _skein_catalog_v1_SignInRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_SignInReply>): grpc.ClientUnaryCall;
  signIn(argument: _skein_catalog_v1_SignInRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SignInReply>): grpc.ClientUnaryCall;
  signIn(argument: _skein_catalog_v1_SignInRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_SignInReply>): grpc.ClientUnaryCall;
  
  SignStageRequests(argument: _skein_catalog_v1_SignStageRequestsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SignedStageRequests>): grpc.ClientUnaryCall;
  SignStageRequests(argument: _skein_catalog_v1_SignStageRequestsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_SignedStageRequests>): grpc.ClientUnaryCall;
  SignStageRequests(argument: _skein_catalog_v1_SignStageRequestsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SignedStageRequests>): grpc.ClientUnaryCall;
  SignStageRequests(argument: _skein_catalog_v1_SignStageRequestsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_SignedStageRequests>): grpc.ClientUnaryCall;
  signStageRequests(argument: _skein_catalog_v1_SignStageRequestsRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SignedStageRequests>): grpc.ClientUnaryCall;
  signStageRequests(argument: _skein_catalog_v1_SignStageRequestsRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_SignedStageRequests>): grpc.ClientUnaryCall;
  signStageRequests(argument: _skein_catalog_v1_SignStageRequestsRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_SignedStageRequests>): grpc.ClientUnaryCall;
  signStageRequests(argument: _skein_catalog_v1_SignStageRequestsRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_SignedStageRequests>): grpc.ClientUnaryCall;
  
  StageTable(argument: _skein_catalog_v1_StageTableRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_LoadedTable>): grpc.ClientUnaryCall;
  StageTable(argument: _skein_catalog_v1_StageTableRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_LoadedTable>): grpc.ClientUnaryCall;
  StageTable(argument: _skein_catalog_v1_StageTableRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_LoadedTable>): grpc.ClientUnaryCall;
  StageTable(argument: _skein_catalog_v1_StageTableRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_LoadedTable>): grpc.ClientUnaryCall;
  stageTable(argument: _skein_catalog_v1_StageTableRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_LoadedTable>): grpc.ClientUnaryCall;
  stageTable(argument: _skein_catalog_v1_StageTableRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_LoadedTable>): grpc.ClientUnaryCall;
  stageTable(argument: _skein_catalog_v1_StageTableRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_LoadedTable>): grpc.ClientUnaryCall;
  stageTable(argument: _skein_catalog_v1_StageTableRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_LoadedTable>): grpc.ClientUnaryCall;
  
  VendKey(argument: _skein_catalog_v1_VendKeyRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_VendKeyReply>): grpc.ClientUnaryCall;
  VendKey(argument: _skein_catalog_v1_VendKeyRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_VendKeyReply>): grpc.ClientUnaryCall;
  VendKey(argument: _skein_catalog_v1_VendKeyRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_VendKeyReply>): grpc.ClientUnaryCall;
  VendKey(argument: _skein_catalog_v1_VendKeyRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_VendKeyReply>): grpc.ClientUnaryCall;
  vendKey(argument: _skein_catalog_v1_VendKeyRequestInput, metadata: grpc.Metadata, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_VendKeyReply>): grpc.ClientUnaryCall;
  vendKey(argument: _skein_catalog_v1_VendKeyRequestInput, metadata: grpc.Metadata, callback: grpc.requestCallback<_skein_catalog_v1_VendKeyReply>): grpc.ClientUnaryCall;
  vendKey(argument: _skein_catalog_v1_VendKeyRequestInput, options: grpc.CallOptions, callback: grpc.requestCallback<_skein_catalog_v1_VendKeyReply>): grpc.ClientUnaryCall;
  vendKey(argument: _skein_catalog_v1_VendKeyRequestInput, callback: grpc.requestCallback<_skein_catalog_v1_VendKeyReply>): grpc.ClientUnaryCall;
  
  WatchEpochs(argument: _skein_catalog_v1_WatchEpochsRequestInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_skein_catalog_v1_EpochList>;
  WatchEpochs(argument: _skein_catalog_v1_WatchEpochsRequestInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_skein_catalog_v1_EpochList>;
  watchEpochs(argument: _skein_catalog_v1_WatchEpochsRequestInput, metadata: grpc.Metadata, options?: grpc.CallOptions): grpc.ClientReadableStream<_skein_catalog_v1_EpochList>;
  watchEpochs(argument: _skein_catalog_v1_WatchEpochsRequestInput, options?: grpc.CallOptions): grpc.ClientReadableStream<_skein_catalog_v1_EpochList>;
  
}

export interface CatalogInternalHandlers extends grpc.UntypedServiceImplementation {
  AbandonCommit: grpc.handleUnaryCall<_skein_catalog_v1_AbandonCommitRequest, _skein_catalog_v1_AbandonCommitReplyInput>;
  
  AbortUploads: grpc.handleUnaryCall<_skein_catalog_v1_AbortUploadsRequest, _skein_catalog_v1_AbortUploadsReplyInput>;
  
  AlterCatalog: grpc.handleUnaryCall<_skein_catalog_v1_AlterCatalogRequest, _skein_catalog_v1_AlterCatalogReplyInput>;
  
  AlterTenant: grpc.handleUnaryCall<_skein_catalog_v1_AlterTenantRequest, _skein_catalog_v1_AlterTenantReplyInput>;
  
  Authorize: grpc.handleUnaryCall<_skein_catalog_v1_AuthorizeRequest, _skein_catalog_v1_AuthorizeReplyInput>;
  
  BeginUpload: grpc.handleUnaryCall<_skein_catalog_v1_BeginUploadRequest, _skein_catalog_v1_StageUploadInput>;
  
  Calls: grpc.handleBidiStreamingCall<_skein_calls_v1_Call, _skein_calls_v1_AnswerInput>;
  
  CheckCatalog: grpc.handleUnaryCall<_skein_catalog_v1_CheckCatalogRequest, _skein_catalog_v1_CheckCatalogReplyInput>;
  
  CommitTables: grpc.handleUnaryCall<_skein_catalog_v1_CommitTablesRequest, _skein_catalog_v1_CommitTablesReplyInput>;
  
  CreateCatalog: grpc.handleUnaryCall<_skein_catalog_v1_CreateCatalogRequest, _skein_catalog_v1_CreateCatalogReplyInput>;
  
  CreateClient: grpc.handleUnaryCall<_skein_catalog_v1_CreateClientRequest, _skein_catalog_v1_ClientSecretInput>;
  
  CreateTenant: grpc.handleUnaryCall<_skein_catalog_v1_CreateTenantRequest, _skein_catalog_v1_CreateTenantReplyInput>;
  
  DescribeCatalogs: grpc.handleUnaryCall<_skein_catalog_v1_DescribeCatalogsRequest, _skein_catalog_v1_CatalogListInput>;
  
  DropCatalog: grpc.handleUnaryCall<_skein_catalog_v1_DropCatalogRequest, _skein_catalog_v1_DropCatalogReplyInput>;
  
  DropClient: grpc.handleUnaryCall<_skein_catalog_v1_DropClientRequest, _skein_catalog_v1_DropClientReplyInput>;
  
  DropTenant: grpc.handleUnaryCall<_skein_catalog_v1_DropTenantRequest, _skein_catalog_v1_DropTenantReplyInput>;
  
  EndUpload: grpc.handleUnaryCall<_skein_catalog_v1_EndUploadRequest, _skein_catalog_v1_EndUploadReplyInput>;
  
  ExportAuditLog: grpc.handleUnaryCall<_skein_catalog_v1_ExportAuditLogRequest, _skein_catalog_v1_AuditPageInput>;
  
  FindFolders: grpc.handleUnaryCall<_skein_catalog_v1_FindFoldersRequest, _skein_catalog_v1_FindFoldersReplyInput>;
  
  FindLoads: grpc.handleUnaryCall<_skein_catalog_v1_FindLoadsRequest, _skein_catalog_v1_FindLoadsReplyInput>;
  
  FindUpload: grpc.handleUnaryCall<_skein_catalog_v1_FindUploadRequest, _skein_catalog_v1_StageUploadInput>;
  
  GetMoment: grpc.handleUnaryCall<_skein_catalog_v1_GetMomentRequest, _skein_catalog_v1_GetMomentReplyInput>;
  
  GetSigningKeys: grpc.handleUnaryCall<_skein_catalog_v1_GetSigningKeysRequest, _skein_catalog_v1_SigningKeysInput>;
  
  HoldAnswers: grpc.handleBidiStreamingCall<_skein_catalog_v1_LeaseRequest, _skein_catalog_v1_LeaseInput>;
  
  ListCatalogs: grpc.handleUnaryCall<_skein_catalog_v1_ListCatalogsRequest, _skein_catalog_v1_NameListInput>;
  
  ListChanges: grpc.handleUnaryCall<_skein_catalog_v1_ListChangesRequest, _skein_catalog_v1_ChangeListInput>;
  
  ListClients: grpc.handleUnaryCall<_skein_catalog_v1_ListClientsRequest, _skein_catalog_v1_ClientListInput>;
  
  ListDropped: grpc.handleUnaryCall<_skein_catalog_v1_ListDroppedRequest, _skein_catalog_v1_DroppedListInput>;
  
  ListJobs: grpc.handleUnaryCall<_skein_catalog_v1_ListJobsRequest, _skein_catalog_v1_JobListInput>;
  
  ListNamespaces: grpc.handleUnaryCall<_skein_catalog_v1_ListNamespacesRequest, _skein_catalog_v1_NamespaceListInput>;
  
  ListRelations: grpc.handleUnaryCall<_skein_catalog_v1_ListRelationsRequest, _skein_catalog_v1_RelationListInput>;
  
  ListStages: grpc.handleUnaryCall<_skein_catalog_v1_ListStagesRequest, _skein_catalog_v1_StageListInput>;
  
  ListTables: grpc.handleUnaryCall<_skein_catalog_v1_ListTablesRequest, _skein_catalog_v1_TableListInput>;
  
  ListTenants: grpc.handleUnaryCall<_skein_catalog_v1_ListTenantsRequest, _skein_catalog_v1_NameListInput>;
  
  LoadTables: grpc.handleUnaryCall<_skein_catalog_v1_LoadTablesRequest, _skein_catalog_v1_LoadTablesReplyInput>;
  
  MintToken: grpc.handleUnaryCall<_skein_catalog_v1_MintTokenRequest, _skein_catalog_v1_MintTokenReplyInput>;
  
  OpenStage: grpc.handleUnaryCall<_skein_catalog_v1_OpenStageRequest, _skein_catalog_v1_StageInput>;
  
  RedeemCode: grpc.handleUnaryCall<_skein_catalog_v1_RedeemCodeRequest, _skein_catalog_v1_PersonTokensInput>;
  
  RenewSignIn: grpc.handleUnaryCall<_skein_catalog_v1_RenewSignInRequest, _skein_catalog_v1_PersonTokensInput>;
  
  RescueUser: grpc.handleUnaryCall<_skein_catalog_v1_RescueUserRequest, _skein_catalog_v1_RescueUserReplyInput>;
  
  ResealSecrets: grpc.handleUnaryCall<_skein_catalog_v1_ResealSecretsRequest, _skein_catalog_v1_ResealSecretsReplyInput>;
  
  RetryJobs: grpc.handleUnaryCall<_skein_catalog_v1_RetryJobsRequest, _skein_catalog_v1_RetryJobsReplyInput>;
  
  RevokeSignIn: grpc.handleUnaryCall<_skein_catalog_v1_RevokeSignInRequest, _skein_catalog_v1_RevokeSignInReplyInput>;
  
  RotateClient: grpc.handleUnaryCall<_skein_catalog_v1_RotateClientRequest, _skein_catalog_v1_ClientSecretInput>;
  
  RunOperation: grpc.handleUnaryCall<_skein_catalog_v1_RunOperationRequest, _skein_catalog_v1_RunOperationReplyInput>;
  
  RunPolicyStatement: grpc.handleUnaryCall<_skein_catalog_v1_PolicyStatementRequest, _skein_catalog_v1_PolicyStatementReplyInput>;
  
  RunPrincipalStatement: grpc.handleUnaryCall<_skein_catalog_v1_PrincipalStatementRequest, _skein_catalog_v1_PrincipalStatementReplyInput>;
  
  SignIn: grpc.handleUnaryCall<_skein_catalog_v1_SignInRequest, _skein_catalog_v1_SignInReplyInput>;
  
  SignStageRequests: grpc.handleUnaryCall<_skein_catalog_v1_SignStageRequestsRequest, _skein_catalog_v1_SignedStageRequestsInput>;
  
  StageTable: grpc.handleUnaryCall<_skein_catalog_v1_StageTableRequest, _skein_catalog_v1_LoadedTableInput>;
  
  VendKey: grpc.handleUnaryCall<_skein_catalog_v1_VendKeyRequest, _skein_catalog_v1_VendKeyReplyInput>;
  
  WatchEpochs: grpc.handleServerStreamingCall<_skein_catalog_v1_WatchEpochsRequest, _skein_catalog_v1_EpochListInput>;
  
}

export interface CatalogInternalDefinition extends grpc.ServiceDefinition {
  AbandonCommit: MethodDefinition<_skein_catalog_v1_AbandonCommitRequestInput, _skein_catalog_v1_AbandonCommitReplyInput, _skein_catalog_v1_AbandonCommitRequest, _skein_catalog_v1_AbandonCommitReply>
  AbortUploads: MethodDefinition<_skein_catalog_v1_AbortUploadsRequestInput, _skein_catalog_v1_AbortUploadsReplyInput, _skein_catalog_v1_AbortUploadsRequest, _skein_catalog_v1_AbortUploadsReply>
  AlterCatalog: MethodDefinition<_skein_catalog_v1_AlterCatalogRequestInput, _skein_catalog_v1_AlterCatalogReplyInput, _skein_catalog_v1_AlterCatalogRequest, _skein_catalog_v1_AlterCatalogReply>
  AlterTenant: MethodDefinition<_skein_catalog_v1_AlterTenantRequestInput, _skein_catalog_v1_AlterTenantReplyInput, _skein_catalog_v1_AlterTenantRequest, _skein_catalog_v1_AlterTenantReply>
  Authorize: MethodDefinition<_skein_catalog_v1_AuthorizeRequestInput, _skein_catalog_v1_AuthorizeReplyInput, _skein_catalog_v1_AuthorizeRequest, _skein_catalog_v1_AuthorizeReply>
  BeginUpload: MethodDefinition<_skein_catalog_v1_BeginUploadRequestInput, _skein_catalog_v1_StageUploadInput, _skein_catalog_v1_BeginUploadRequest, _skein_catalog_v1_StageUpload>
  Calls: MethodDefinition<_skein_calls_v1_CallInput, _skein_calls_v1_AnswerInput, _skein_calls_v1_Call, _skein_calls_v1_Answer>
  CheckCatalog: MethodDefinition<_skein_catalog_v1_CheckCatalogRequestInput, _skein_catalog_v1_CheckCatalogReplyInput, _skein_catalog_v1_CheckCatalogRequest, _skein_catalog_v1_CheckCatalogReply>
  CommitTables: MethodDefinition<_skein_catalog_v1_CommitTablesRequestInput, _skein_catalog_v1_CommitTablesReplyInput, _skein_catalog_v1_CommitTablesRequest, _skein_catalog_v1_CommitTablesReply>
  CreateCatalog: MethodDefinition<_skein_catalog_v1_CreateCatalogRequestInput, _skein_catalog_v1_CreateCatalogReplyInput, _skein_catalog_v1_CreateCatalogRequest, _skein_catalog_v1_CreateCatalogReply>
  CreateClient: MethodDefinition<_skein_catalog_v1_CreateClientRequestInput, _skein_catalog_v1_ClientSecretInput, _skein_catalog_v1_CreateClientRequest, _skein_catalog_v1_ClientSecret>
  CreateTenant: MethodDefinition<_skein_catalog_v1_CreateTenantRequestInput, _skein_catalog_v1_CreateTenantReplyInput, _skein_catalog_v1_CreateTenantRequest, _skein_catalog_v1_CreateTenantReply>
  DescribeCatalogs: MethodDefinition<_skein_catalog_v1_DescribeCatalogsRequestInput, _skein_catalog_v1_CatalogListInput, _skein_catalog_v1_DescribeCatalogsRequest, _skein_catalog_v1_CatalogList>
  DropCatalog: MethodDefinition<_skein_catalog_v1_DropCatalogRequestInput, _skein_catalog_v1_DropCatalogReplyInput, _skein_catalog_v1_DropCatalogRequest, _skein_catalog_v1_DropCatalogReply>
  DropClient: MethodDefinition<_skein_catalog_v1_DropClientRequestInput, _skein_catalog_v1_DropClientReplyInput, _skein_catalog_v1_DropClientRequest, _skein_catalog_v1_DropClientReply>
  DropTenant: MethodDefinition<_skein_catalog_v1_DropTenantRequestInput, _skein_catalog_v1_DropTenantReplyInput, _skein_catalog_v1_DropTenantRequest, _skein_catalog_v1_DropTenantReply>
  EndUpload: MethodDefinition<_skein_catalog_v1_EndUploadRequestInput, _skein_catalog_v1_EndUploadReplyInput, _skein_catalog_v1_EndUploadRequest, _skein_catalog_v1_EndUploadReply>
  ExportAuditLog: MethodDefinition<_skein_catalog_v1_ExportAuditLogRequestInput, _skein_catalog_v1_AuditPageInput, _skein_catalog_v1_ExportAuditLogRequest, _skein_catalog_v1_AuditPage>
  FindFolders: MethodDefinition<_skein_catalog_v1_FindFoldersRequestInput, _skein_catalog_v1_FindFoldersReplyInput, _skein_catalog_v1_FindFoldersRequest, _skein_catalog_v1_FindFoldersReply>
  FindLoads: MethodDefinition<_skein_catalog_v1_FindLoadsRequestInput, _skein_catalog_v1_FindLoadsReplyInput, _skein_catalog_v1_FindLoadsRequest, _skein_catalog_v1_FindLoadsReply>
  FindUpload: MethodDefinition<_skein_catalog_v1_FindUploadRequestInput, _skein_catalog_v1_StageUploadInput, _skein_catalog_v1_FindUploadRequest, _skein_catalog_v1_StageUpload>
  GetMoment: MethodDefinition<_skein_catalog_v1_GetMomentRequestInput, _skein_catalog_v1_GetMomentReplyInput, _skein_catalog_v1_GetMomentRequest, _skein_catalog_v1_GetMomentReply>
  GetSigningKeys: MethodDefinition<_skein_catalog_v1_GetSigningKeysRequestInput, _skein_catalog_v1_SigningKeysInput, _skein_catalog_v1_GetSigningKeysRequest, _skein_catalog_v1_SigningKeys>
  HoldAnswers: MethodDefinition<_skein_catalog_v1_LeaseRequestInput, _skein_catalog_v1_LeaseInput, _skein_catalog_v1_LeaseRequest, _skein_catalog_v1_Lease>
  ListCatalogs: MethodDefinition<_skein_catalog_v1_ListCatalogsRequestInput, _skein_catalog_v1_NameListInput, _skein_catalog_v1_ListCatalogsRequest, _skein_catalog_v1_NameList>
  ListChanges: MethodDefinition<_skein_catalog_v1_ListChangesRequestInput, _skein_catalog_v1_ChangeListInput, _skein_catalog_v1_ListChangesRequest, _skein_catalog_v1_ChangeList>
  ListClients: MethodDefinition<_skein_catalog_v1_ListClientsRequestInput, _skein_catalog_v1_ClientListInput, _skein_catalog_v1_ListClientsRequest, _skein_catalog_v1_ClientList>
  ListDropped: MethodDefinition<_skein_catalog_v1_ListDroppedRequestInput, _skein_catalog_v1_DroppedListInput, _skein_catalog_v1_ListDroppedRequest, _skein_catalog_v1_DroppedList>
  ListJobs: MethodDefinition<_skein_catalog_v1_ListJobsRequestInput, _skein_catalog_v1_JobListInput, _skein_catalog_v1_ListJobsRequest, _skein_catalog_v1_JobList>
  ListNamespaces: MethodDefinition<_skein_catalog_v1_ListNamespacesRequestInput, _skein_catalog_v1_NamespaceListInput, _skein_catalog_v1_ListNamespacesRequest, _skein_catalog_v1_NamespaceList>
  ListRelations: MethodDefinition<_skein_catalog_v1_ListRelationsRequestInput, _skein_catalog_v1_RelationListInput, _skein_catalog_v1_ListRelationsRequest, _skein_catalog_v1_RelationList>
  ListStages: MethodDefinition<_skein_catalog_v1_ListStagesRequestInput, _skein_catalog_v1_StageListInput, _skein_catalog_v1_ListStagesRequest, _skein_catalog_v1_StageList>
  ListTables: MethodDefinition<_skein_catalog_v1_ListTablesRequestInput, _skein_catalog_v1_TableListInput, _skein_catalog_v1_ListTablesRequest, _skein_catalog_v1_TableList>
  ListTenants: MethodDefinition<_skein_catalog_v1_ListTenantsRequestInput, _skein_catalog_v1_NameListInput, _skein_catalog_v1_ListTenantsRequest, _skein_catalog_v1_NameList>
  LoadTables: MethodDefinition<_skein_catalog_v1_LoadTablesRequestInput, _skein_catalog_v1_LoadTablesReplyInput, _skein_catalog_v1_LoadTablesRequest, _skein_catalog_v1_LoadTablesReply>
  MintToken: MethodDefinition<_skein_catalog_v1_MintTokenRequestInput, _skein_catalog_v1_MintTokenReplyInput, _skein_catalog_v1_MintTokenRequest, _skein_catalog_v1_MintTokenReply>
  OpenStage: MethodDefinition<_skein_catalog_v1_OpenStageRequestInput, _skein_catalog_v1_StageInput, _skein_catalog_v1_OpenStageRequest, _skein_catalog_v1_Stage>
  RedeemCode: MethodDefinition<_skein_catalog_v1_RedeemCodeRequestInput, _skein_catalog_v1_PersonTokensInput, _skein_catalog_v1_RedeemCodeRequest, _skein_catalog_v1_PersonTokens>
  RenewSignIn: MethodDefinition<_skein_catalog_v1_RenewSignInRequestInput, _skein_catalog_v1_PersonTokensInput, _skein_catalog_v1_RenewSignInRequest, _skein_catalog_v1_PersonTokens>
  RescueUser: MethodDefinition<_skein_catalog_v1_RescueUserRequestInput, _skein_catalog_v1_RescueUserReplyInput, _skein_catalog_v1_RescueUserRequest, _skein_catalog_v1_RescueUserReply>
  ResealSecrets: MethodDefinition<_skein_catalog_v1_ResealSecretsRequestInput, _skein_catalog_v1_ResealSecretsReplyInput, _skein_catalog_v1_ResealSecretsRequest, _skein_catalog_v1_ResealSecretsReply>
  RetryJobs: MethodDefinition<_skein_catalog_v1_RetryJobsRequestInput, _skein_catalog_v1_RetryJobsReplyInput, _skein_catalog_v1_RetryJobsRequest, _skein_catalog_v1_RetryJobsReply>
  RevokeSignIn: MethodDefinition<_skein_catalog_v1_RevokeSignInRequestInput, _skein_catalog_v1_RevokeSignInReplyInput, _skein_catalog_v1_RevokeSignInRequest, _skein_catalog_v1_RevokeSignInReply>
  RotateClient: MethodDefinition<_skein_catalog_v1_RotateClientRequestInput, _skein_catalog_v1_ClientSecretInput, _skein_catalog_v1_RotateClientRequest, _skein_catalog_v1_ClientSecret>
  RunOperation: MethodDefinition<_skein_catalog_v1_RunOperationRequestInput, _skein_catalog_v1_RunOperationReplyInput, _skein_catalog_v1_RunOperationRequest, _skein_catalog_v1_RunOperationReply>
  RunPolicyStatement: MethodDefinition<_skein_catalog_v1_PolicyStatementRequestInput, _skein_catalog_v1_PolicyStatementReplyInput, _skein_catalog_v1_PolicyStatementRequest, _skein_catalog_v1_PolicyStatementReply>
  RunPrincipalStatement: MethodDefinition<_skein_catalog_v1_PrincipalStatementRequestInput, _skein_catalog_v1_PrincipalStatementReplyInput, _skein_catalog_v1_PrincipalStatementRequest, _skein_catalog_v1_PrincipalStatementReply>
  SignIn: MethodDefinition<_skein_catalog_v1_SignInRequestInput, _skein_catalog_v1_SignInReplyInput, _skein_catalog_v1_SignInRequest, _skein_catalog_v1_SignInReply>
  SignStageRequests: MethodDefinition<_skein_catalog_v1_SignStageRequestsRequestInput, _skein_catalog_v1_SignedStageRequestsInput, _skein_catalog_v1_SignStageRequestsRequest, _skein_catalog_v1_SignedStageRequests>
  StageTable: MethodDefinition<_skein_catalog_v1_StageTableRequestInput, _skein_catalog_v1_LoadedTableInput, _skein_catalog_v1_StageTableRequest, _skein_catalog_v1_LoadedTable>
  VendKey: MethodDefinition<_skein_catalog_v1_VendKeyRequestInput, _skein_catalog_v1_VendKeyReplyInput, _skein_catalog_v1_VendKeyRequest, _skein_catalog_v1_VendKeyReply>
  WatchEpochs: MethodDefinition<_skein_catalog_v1_WatchEpochsRequestInput, _skein_catalog_v1_EpochListInput, _skein_catalog_v1_WatchEpochsRequest, _skein_catalog_v1_EpochList>
}
