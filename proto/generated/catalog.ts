import type * as grpc from '@grpc/grpc-js';
import type { MessageTypeDefinition } from '@grpc/proto-loader';

import type { AnswerInput as _skein_calls_v1_AnswerInput, Answer as _skein_calls_v1_Answer } from './skein/calls/v1/Answer.ts';
import type { CallInput as _skein_calls_v1_CallInput, Call as _skein_calls_v1_Call } from './skein/calls/v1/Call.ts';
import type { AbandonCommitReplyInput as _skein_catalog_v1_AbandonCommitReplyInput, AbandonCommitReply as _skein_catalog_v1_AbandonCommitReply } from './skein/catalog/v1/AbandonCommitReply.ts';
import type { AbandonCommitRequestInput as _skein_catalog_v1_AbandonCommitRequestInput, AbandonCommitRequest as _skein_catalog_v1_AbandonCommitRequest } from './skein/catalog/v1/AbandonCommitRequest.ts';
import type { AbortUploadsReplyInput as _skein_catalog_v1_AbortUploadsReplyInput, AbortUploadsReply as _skein_catalog_v1_AbortUploadsReply } from './skein/catalog/v1/AbortUploadsReply.ts';
import type { AbortUploadsRequestInput as _skein_catalog_v1_AbortUploadsRequestInput, AbortUploadsRequest as _skein_catalog_v1_AbortUploadsRequest } from './skein/catalog/v1/AbortUploadsRequest.ts';
import type { AccessKeyInput as _skein_catalog_v1_AccessKeyInput, AccessKey as _skein_catalog_v1_AccessKey } from './skein/catalog/v1/AccessKey.ts';
import type { AdlsKeyInput as _skein_catalog_v1_AdlsKeyInput, AdlsKey as _skein_catalog_v1_AdlsKey } from './skein/catalog/v1/AdlsKey.ts';
import type { AlterCatalogReplyInput as _skein_catalog_v1_AlterCatalogReplyInput, AlterCatalogReply as _skein_catalog_v1_AlterCatalogReply } from './skein/catalog/v1/AlterCatalogReply.ts';
import type { AlterCatalogRequestInput as _skein_catalog_v1_AlterCatalogRequestInput, AlterCatalogRequest as _skein_catalog_v1_AlterCatalogRequest } from './skein/catalog/v1/AlterCatalogRequest.ts';
import type { AlterTenantReplyInput as _skein_catalog_v1_AlterTenantReplyInput, AlterTenantReply as _skein_catalog_v1_AlterTenantReply } from './skein/catalog/v1/AlterTenantReply.ts';
import type { AlterTenantRequestInput as _skein_catalog_v1_AlterTenantRequestInput, AlterTenantRequest as _skein_catalog_v1_AlterTenantRequest } from './skein/catalog/v1/AlterTenantRequest.ts';
import type { AuditPageInput as _skein_catalog_v1_AuditPageInput, AuditPage as _skein_catalog_v1_AuditPage } from './skein/catalog/v1/AuditPage.ts';
import type { AuthorizeReplyInput as _skein_catalog_v1_AuthorizeReplyInput, AuthorizeReply as _skein_catalog_v1_AuthorizeReply } from './skein/catalog/v1/AuthorizeReply.ts';
import type { AuthorizeRequestInput as _skein_catalog_v1_AuthorizeRequestInput, AuthorizeRequest as _skein_catalog_v1_AuthorizeRequest } from './skein/catalog/v1/AuthorizeRequest.ts';
import type { BeginUploadRequestInput as _skein_catalog_v1_BeginUploadRequestInput, BeginUploadRequest as _skein_catalog_v1_BeginUploadRequest } from './skein/catalog/v1/BeginUploadRequest.ts';
import type { BucketKeyInput as _skein_catalog_v1_BucketKeyInput, BucketKey as _skein_catalog_v1_BucketKey } from './skein/catalog/v1/BucketKey.ts';
import type { BucketSettingsInput as _skein_catalog_v1_BucketSettingsInput, BucketSettings as _skein_catalog_v1_BucketSettings } from './skein/catalog/v1/BucketSettings.ts';
import type { CatalogCheckInput as _skein_catalog_v1_CatalogCheckInput, CatalogCheck as _skein_catalog_v1_CatalogCheck } from './skein/catalog/v1/CatalogCheck.ts';
import type { CatalogInternalClient as _skein_catalog_v1_CatalogInternalClient, CatalogInternalDefinition as _skein_catalog_v1_CatalogInternalDefinition } from './skein/catalog/v1/CatalogInternal.ts';
import type { CatalogListInput as _skein_catalog_v1_CatalogListInput, CatalogList as _skein_catalog_v1_CatalogList } from './skein/catalog/v1/CatalogList.ts';
import type { ChangeListInput as _skein_catalog_v1_ChangeListInput, ChangeList as _skein_catalog_v1_ChangeList } from './skein/catalog/v1/ChangeList.ts';
import type { CheckCatalogReplyInput as _skein_catalog_v1_CheckCatalogReplyInput, CheckCatalogReply as _skein_catalog_v1_CheckCatalogReply } from './skein/catalog/v1/CheckCatalogReply.ts';
import type { CheckCatalogRequestInput as _skein_catalog_v1_CheckCatalogRequestInput, CheckCatalogRequest as _skein_catalog_v1_CheckCatalogRequest } from './skein/catalog/v1/CheckCatalogRequest.ts';
import type { ClientListInput as _skein_catalog_v1_ClientListInput, ClientList as _skein_catalog_v1_ClientList } from './skein/catalog/v1/ClientList.ts';
import type { ClientSecretInput as _skein_catalog_v1_ClientSecretInput, ClientSecret as _skein_catalog_v1_ClientSecret } from './skein/catalog/v1/ClientSecret.ts';
import type { CommitTablesReplyInput as _skein_catalog_v1_CommitTablesReplyInput, CommitTablesReply as _skein_catalog_v1_CommitTablesReply } from './skein/catalog/v1/CommitTablesReply.ts';
import type { CommitTablesRequestInput as _skein_catalog_v1_CommitTablesRequestInput, CommitTablesRequest as _skein_catalog_v1_CommitTablesRequest } from './skein/catalog/v1/CommitTablesRequest.ts';
import type { CreateCatalogReplyInput as _skein_catalog_v1_CreateCatalogReplyInput, CreateCatalogReply as _skein_catalog_v1_CreateCatalogReply } from './skein/catalog/v1/CreateCatalogReply.ts';
import type { CreateCatalogRequestInput as _skein_catalog_v1_CreateCatalogRequestInput, CreateCatalogRequest as _skein_catalog_v1_CreateCatalogRequest } from './skein/catalog/v1/CreateCatalogRequest.ts';
import type { CreateClientRequestInput as _skein_catalog_v1_CreateClientRequestInput, CreateClientRequest as _skein_catalog_v1_CreateClientRequest } from './skein/catalog/v1/CreateClientRequest.ts';
import type { CreateTenantReplyInput as _skein_catalog_v1_CreateTenantReplyInput, CreateTenantReply as _skein_catalog_v1_CreateTenantReply } from './skein/catalog/v1/CreateTenantReply.ts';
import type { CreateTenantRequestInput as _skein_catalog_v1_CreateTenantRequestInput, CreateTenantRequest as _skein_catalog_v1_CreateTenantRequest } from './skein/catalog/v1/CreateTenantRequest.ts';
import type { DecisionInput as _skein_catalog_v1_DecisionInput, Decision as _skein_catalog_v1_Decision } from './skein/catalog/v1/Decision.ts';
import type { DescribeCatalogsRequestInput as _skein_catalog_v1_DescribeCatalogsRequestInput, DescribeCatalogsRequest as _skein_catalog_v1_DescribeCatalogsRequest } from './skein/catalog/v1/DescribeCatalogsRequest.ts';
import type { DescribedCatalogInput as _skein_catalog_v1_DescribedCatalogInput, DescribedCatalog as _skein_catalog_v1_DescribedCatalog } from './skein/catalog/v1/DescribedCatalog.ts';
import type { DropCatalogReplyInput as _skein_catalog_v1_DropCatalogReplyInput, DropCatalogReply as _skein_catalog_v1_DropCatalogReply } from './skein/catalog/v1/DropCatalogReply.ts';
import type { DropCatalogRequestInput as _skein_catalog_v1_DropCatalogRequestInput, DropCatalogRequest as _skein_catalog_v1_DropCatalogRequest } from './skein/catalog/v1/DropCatalogRequest.ts';
import type { DropClientReplyInput as _skein_catalog_v1_DropClientReplyInput, DropClientReply as _skein_catalog_v1_DropClientReply } from './skein/catalog/v1/DropClientReply.ts';
import type { DropClientRequestInput as _skein_catalog_v1_DropClientRequestInput, DropClientRequest as _skein_catalog_v1_DropClientRequest } from './skein/catalog/v1/DropClientRequest.ts';
import type { DropTenantReplyInput as _skein_catalog_v1_DropTenantReplyInput, DropTenantReply as _skein_catalog_v1_DropTenantReply } from './skein/catalog/v1/DropTenantReply.ts';
import type { DropTenantRequestInput as _skein_catalog_v1_DropTenantRequestInput, DropTenantRequest as _skein_catalog_v1_DropTenantRequest } from './skein/catalog/v1/DropTenantRequest.ts';
import type { DroppedListInput as _skein_catalog_v1_DroppedListInput, DroppedList as _skein_catalog_v1_DroppedList } from './skein/catalog/v1/DroppedList.ts';
import type { DroppedTableInput as _skein_catalog_v1_DroppedTableInput, DroppedTable as _skein_catalog_v1_DroppedTable } from './skein/catalog/v1/DroppedTable.ts';
import type { EndUploadReplyInput as _skein_catalog_v1_EndUploadReplyInput, EndUploadReply as _skein_catalog_v1_EndUploadReply } from './skein/catalog/v1/EndUploadReply.ts';
import type { EndUploadRequestInput as _skein_catalog_v1_EndUploadRequestInput, EndUploadRequest as _skein_catalog_v1_EndUploadRequest } from './skein/catalog/v1/EndUploadRequest.ts';
import type { EndedSignInInput as _skein_catalog_v1_EndedSignInInput, EndedSignIn as _skein_catalog_v1_EndedSignIn } from './skein/catalog/v1/EndedSignIn.ts';
import type { EpochInput as _skein_catalog_v1_EpochInput, Epoch as _skein_catalog_v1_Epoch } from './skein/catalog/v1/Epoch.ts';
import type { EpochListInput as _skein_catalog_v1_EpochListInput, EpochList as _skein_catalog_v1_EpochList } from './skein/catalog/v1/EpochList.ts';
import type { ExportAuditLogRequestInput as _skein_catalog_v1_ExportAuditLogRequestInput, ExportAuditLogRequest as _skein_catalog_v1_ExportAuditLogRequest } from './skein/catalog/v1/ExportAuditLogRequest.ts';
import type { FindFoldersReplyInput as _skein_catalog_v1_FindFoldersReplyInput, FindFoldersReply as _skein_catalog_v1_FindFoldersReply } from './skein/catalog/v1/FindFoldersReply.ts';
import type { FindFoldersRequestInput as _skein_catalog_v1_FindFoldersRequestInput, FindFoldersRequest as _skein_catalog_v1_FindFoldersRequest } from './skein/catalog/v1/FindFoldersRequest.ts';
import type { FindLoadsReplyInput as _skein_catalog_v1_FindLoadsReplyInput, FindLoadsReply as _skein_catalog_v1_FindLoadsReply } from './skein/catalog/v1/FindLoadsReply.ts';
import type { FindLoadsRequestInput as _skein_catalog_v1_FindLoadsRequestInput, FindLoadsRequest as _skein_catalog_v1_FindLoadsRequest } from './skein/catalog/v1/FindLoadsRequest.ts';
import type { FindUploadRequestInput as _skein_catalog_v1_FindUploadRequestInput, FindUploadRequest as _skein_catalog_v1_FindUploadRequest } from './skein/catalog/v1/FindUploadRequest.ts';
import type { GcsKeyInput as _skein_catalog_v1_GcsKeyInput, GcsKey as _skein_catalog_v1_GcsKey } from './skein/catalog/v1/GcsKey.ts';
import type { GetMomentReplyInput as _skein_catalog_v1_GetMomentReplyInput, GetMomentReply as _skein_catalog_v1_GetMomentReply } from './skein/catalog/v1/GetMomentReply.ts';
import type { GetMomentRequestInput as _skein_catalog_v1_GetMomentRequestInput, GetMomentRequest as _skein_catalog_v1_GetMomentRequest } from './skein/catalog/v1/GetMomentRequest.ts';
import type { GetSigningKeysRequestInput as _skein_catalog_v1_GetSigningKeysRequestInput, GetSigningKeysRequest as _skein_catalog_v1_GetSigningKeysRequest } from './skein/catalog/v1/GetSigningKeysRequest.ts';
import type { JobListInput as _skein_catalog_v1_JobListInput, JobList as _skein_catalog_v1_JobList } from './skein/catalog/v1/JobList.ts';
import type { LeaseInput as _skein_catalog_v1_LeaseInput, Lease as _skein_catalog_v1_Lease } from './skein/catalog/v1/Lease.ts';
import type { LeaseRequestInput as _skein_catalog_v1_LeaseRequestInput, LeaseRequest as _skein_catalog_v1_LeaseRequest } from './skein/catalog/v1/LeaseRequest.ts';
import type { ListCatalogsRequestInput as _skein_catalog_v1_ListCatalogsRequestInput, ListCatalogsRequest as _skein_catalog_v1_ListCatalogsRequest } from './skein/catalog/v1/ListCatalogsRequest.ts';
import type { ListChangesRequestInput as _skein_catalog_v1_ListChangesRequestInput, ListChangesRequest as _skein_catalog_v1_ListChangesRequest } from './skein/catalog/v1/ListChangesRequest.ts';
import type { ListClientsRequestInput as _skein_catalog_v1_ListClientsRequestInput, ListClientsRequest as _skein_catalog_v1_ListClientsRequest } from './skein/catalog/v1/ListClientsRequest.ts';
import type { ListDroppedRequestInput as _skein_catalog_v1_ListDroppedRequestInput, ListDroppedRequest as _skein_catalog_v1_ListDroppedRequest } from './skein/catalog/v1/ListDroppedRequest.ts';
import type { ListJobsRequestInput as _skein_catalog_v1_ListJobsRequestInput, ListJobsRequest as _skein_catalog_v1_ListJobsRequest } from './skein/catalog/v1/ListJobsRequest.ts';
import type { ListNamespacesRequestInput as _skein_catalog_v1_ListNamespacesRequestInput, ListNamespacesRequest as _skein_catalog_v1_ListNamespacesRequest } from './skein/catalog/v1/ListNamespacesRequest.ts';
import type { ListRelationsRequestInput as _skein_catalog_v1_ListRelationsRequestInput, ListRelationsRequest as _skein_catalog_v1_ListRelationsRequest } from './skein/catalog/v1/ListRelationsRequest.ts';
import type { ListStagesRequestInput as _skein_catalog_v1_ListStagesRequestInput, ListStagesRequest as _skein_catalog_v1_ListStagesRequest } from './skein/catalog/v1/ListStagesRequest.ts';
import type { ListTablesRequestInput as _skein_catalog_v1_ListTablesRequestInput, ListTablesRequest as _skein_catalog_v1_ListTablesRequest } from './skein/catalog/v1/ListTablesRequest.ts';
import type { ListTenantsRequestInput as _skein_catalog_v1_ListTenantsRequestInput, ListTenantsRequest as _skein_catalog_v1_ListTenantsRequest } from './skein/catalog/v1/ListTenantsRequest.ts';
import type { ListedClientInput as _skein_catalog_v1_ListedClientInput, ListedClient as _skein_catalog_v1_ListedClient } from './skein/catalog/v1/ListedClient.ts';
import type { LoadTablesReplyInput as _skein_catalog_v1_LoadTablesReplyInput, LoadTablesReply as _skein_catalog_v1_LoadTablesReply } from './skein/catalog/v1/LoadTablesReply.ts';
import type { LoadTablesRequestInput as _skein_catalog_v1_LoadTablesRequestInput, LoadTablesRequest as _skein_catalog_v1_LoadTablesRequest } from './skein/catalog/v1/LoadTablesRequest.ts';
import type { LoadedTableInput as _skein_catalog_v1_LoadedTableInput, LoadedTable as _skein_catalog_v1_LoadedTable } from './skein/catalog/v1/LoadedTable.ts';
import type { MintTokenReplyInput as _skein_catalog_v1_MintTokenReplyInput, MintTokenReply as _skein_catalog_v1_MintTokenReply } from './skein/catalog/v1/MintTokenReply.ts';
import type { MintTokenRequestInput as _skein_catalog_v1_MintTokenRequestInput, MintTokenRequest as _skein_catalog_v1_MintTokenRequest } from './skein/catalog/v1/MintTokenRequest.ts';
import type { NameListInput as _skein_catalog_v1_NameListInput, NameList as _skein_catalog_v1_NameList } from './skein/catalog/v1/NameList.ts';
import type { NamespaceInput as _skein_catalog_v1_NamespaceInput, Namespace as _skein_catalog_v1_Namespace } from './skein/catalog/v1/Namespace.ts';
import type { NamespaceListInput as _skein_catalog_v1_NamespaceListInput, NamespaceList as _skein_catalog_v1_NamespaceList } from './skein/catalog/v1/NamespaceList.ts';
import type { OpenStageRequestInput as _skein_catalog_v1_OpenStageRequestInput, OpenStageRequest as _skein_catalog_v1_OpenStageRequest } from './skein/catalog/v1/OpenStageRequest.ts';
import type { ParkedJobInput as _skein_catalog_v1_ParkedJobInput, ParkedJob as _skein_catalog_v1_ParkedJob } from './skein/catalog/v1/ParkedJob.ts';
import type { PersonTokensInput as _skein_catalog_v1_PersonTokensInput, PersonTokens as _skein_catalog_v1_PersonTokens } from './skein/catalog/v1/PersonTokens.ts';
import type { PolicyInput as _skein_catalog_v1_PolicyInput, Policy as _skein_catalog_v1_Policy } from './skein/catalog/v1/Policy.ts';
import type { PolicyArgumentInput as _skein_catalog_v1_PolicyArgumentInput, PolicyArgument as _skein_catalog_v1_PolicyArgument } from './skein/catalog/v1/PolicyArgument.ts';
import type { PolicyStatementReplyInput as _skein_catalog_v1_PolicyStatementReplyInput, PolicyStatementReply as _skein_catalog_v1_PolicyStatementReply } from './skein/catalog/v1/PolicyStatementReply.ts';
import type { PolicyStatementRequestInput as _skein_catalog_v1_PolicyStatementRequestInput, PolicyStatementRequest as _skein_catalog_v1_PolicyStatementRequest } from './skein/catalog/v1/PolicyStatementRequest.ts';
import type { PrincipalInput as _skein_catalog_v1_PrincipalInput, Principal as _skein_catalog_v1_Principal } from './skein/catalog/v1/Principal.ts';
import type { PrincipalStatementReplyInput as _skein_catalog_v1_PrincipalStatementReplyInput, PrincipalStatementReply as _skein_catalog_v1_PrincipalStatementReply } from './skein/catalog/v1/PrincipalStatementReply.ts';
import type { PrincipalStatementRequestInput as _skein_catalog_v1_PrincipalStatementRequestInput, PrincipalStatementRequest as _skein_catalog_v1_PrincipalStatementRequest } from './skein/catalog/v1/PrincipalStatementRequest.ts';
import type { RedeemCodeRequestInput as _skein_catalog_v1_RedeemCodeRequestInput, RedeemCodeRequest as _skein_catalog_v1_RedeemCodeRequest } from './skein/catalog/v1/RedeemCodeRequest.ts';
import type { RelationInput as _skein_catalog_v1_RelationInput, Relation as _skein_catalog_v1_Relation } from './skein/catalog/v1/Relation.ts';
import type { RelationListInput as _skein_catalog_v1_RelationListInput, RelationList as _skein_catalog_v1_RelationList } from './skein/catalog/v1/RelationList.ts';
import type { RelationPolicyInput as _skein_catalog_v1_RelationPolicyInput, RelationPolicy as _skein_catalog_v1_RelationPolicy } from './skein/catalog/v1/RelationPolicy.ts';
import type { RenewSignInRequestInput as _skein_catalog_v1_RenewSignInRequestInput, RenewSignInRequest as _skein_catalog_v1_RenewSignInRequest } from './skein/catalog/v1/RenewSignInRequest.ts';
import type { RescueUserReplyInput as _skein_catalog_v1_RescueUserReplyInput, RescueUserReply as _skein_catalog_v1_RescueUserReply } from './skein/catalog/v1/RescueUserReply.ts';
import type { RescueUserRequestInput as _skein_catalog_v1_RescueUserRequestInput, RescueUserRequest as _skein_catalog_v1_RescueUserRequest } from './skein/catalog/v1/RescueUserRequest.ts';
import type { ResealSecretsReplyInput as _skein_catalog_v1_ResealSecretsReplyInput, ResealSecretsReply as _skein_catalog_v1_ResealSecretsReply } from './skein/catalog/v1/ResealSecretsReply.ts';
import type { ResealSecretsRequestInput as _skein_catalog_v1_ResealSecretsRequestInput, ResealSecretsRequest as _skein_catalog_v1_ResealSecretsRequest } from './skein/catalog/v1/ResealSecretsRequest.ts';
import type { RetryJobsReplyInput as _skein_catalog_v1_RetryJobsReplyInput, RetryJobsReply as _skein_catalog_v1_RetryJobsReply } from './skein/catalog/v1/RetryJobsReply.ts';
import type { RetryJobsRequestInput as _skein_catalog_v1_RetryJobsRequestInput, RetryJobsRequest as _skein_catalog_v1_RetryJobsRequest } from './skein/catalog/v1/RetryJobsRequest.ts';
import type { RevokeSignInReplyInput as _skein_catalog_v1_RevokeSignInReplyInput, RevokeSignInReply as _skein_catalog_v1_RevokeSignInReply } from './skein/catalog/v1/RevokeSignInReply.ts';
import type { RevokeSignInRequestInput as _skein_catalog_v1_RevokeSignInRequestInput, RevokeSignInRequest as _skein_catalog_v1_RevokeSignInRequest } from './skein/catalog/v1/RevokeSignInRequest.ts';
import type { RotateClientRequestInput as _skein_catalog_v1_RotateClientRequestInput, RotateClientRequest as _skein_catalog_v1_RotateClientRequest } from './skein/catalog/v1/RotateClientRequest.ts';
import type { RunOperationReplyInput as _skein_catalog_v1_RunOperationReplyInput, RunOperationReply as _skein_catalog_v1_RunOperationReply } from './skein/catalog/v1/RunOperationReply.ts';
import type { RunOperationRequestInput as _skein_catalog_v1_RunOperationRequestInput, RunOperationRequest as _skein_catalog_v1_RunOperationRequest } from './skein/catalog/v1/RunOperationRequest.ts';
import type { SignInReplyInput as _skein_catalog_v1_SignInReplyInput, SignInReply as _skein_catalog_v1_SignInReply } from './skein/catalog/v1/SignInReply.ts';
import type { SignInRequestInput as _skein_catalog_v1_SignInRequestInput, SignInRequest as _skein_catalog_v1_SignInRequest } from './skein/catalog/v1/SignInRequest.ts';
import type { SignStageRequestsRequestInput as _skein_catalog_v1_SignStageRequestsRequestInput, SignStageRequestsRequest as _skein_catalog_v1_SignStageRequestsRequest } from './skein/catalog/v1/SignStageRequestsRequest.ts';
import type { SignedStageRequestInput as _skein_catalog_v1_SignedStageRequestInput, SignedStageRequest as _skein_catalog_v1_SignedStageRequest } from './skein/catalog/v1/SignedStageRequest.ts';
import type { SignedStageRequestsInput as _skein_catalog_v1_SignedStageRequestsInput, SignedStageRequests as _skein_catalog_v1_SignedStageRequests } from './skein/catalog/v1/SignedStageRequests.ts';
import type { SigningKeysInput as _skein_catalog_v1_SigningKeysInput, SigningKeys as _skein_catalog_v1_SigningKeys } from './skein/catalog/v1/SigningKeys.ts';
import type { StageInput as _skein_catalog_v1_StageInput, Stage as _skein_catalog_v1_Stage } from './skein/catalog/v1/Stage.ts';
import type { StageListInput as _skein_catalog_v1_StageListInput, StageList as _skein_catalog_v1_StageList } from './skein/catalog/v1/StageList.ts';
import type { StageRequestInput as _skein_catalog_v1_StageRequestInput, StageRequest as _skein_catalog_v1_StageRequest } from './skein/catalog/v1/StageRequest.ts';
import type { StageTableRequestInput as _skein_catalog_v1_StageTableRequestInput, StageTableRequest as _skein_catalog_v1_StageTableRequest } from './skein/catalog/v1/StageTableRequest.ts';
import type { StageUploadInput as _skein_catalog_v1_StageUploadInput, StageUpload as _skein_catalog_v1_StageUpload } from './skein/catalog/v1/StageUpload.ts';
import type { StagedFileInput as _skein_catalog_v1_StagedFileInput, StagedFile as _skein_catalog_v1_StagedFile } from './skein/catalog/v1/StagedFile.ts';
import type { TableListInput as _skein_catalog_v1_TableListInput, TableList as _skein_catalog_v1_TableList } from './skein/catalog/v1/TableList.ts';
import type { TableNameInput as _skein_catalog_v1_TableNameInput, TableName as _skein_catalog_v1_TableName } from './skein/catalog/v1/TableName.ts';
import type { VendKeyReplyInput as _skein_catalog_v1_VendKeyReplyInput, VendKeyReply as _skein_catalog_v1_VendKeyReply } from './skein/catalog/v1/VendKeyReply.ts';
import type { VendKeyRequestInput as _skein_catalog_v1_VendKeyRequestInput, VendKeyRequest as _skein_catalog_v1_VendKeyRequest } from './skein/catalog/v1/VendKeyRequest.ts';
import type { WatchEpochsRequestInput as _skein_catalog_v1_WatchEpochsRequestInput, WatchEpochsRequest as _skein_catalog_v1_WatchEpochsRequest } from './skein/catalog/v1/WatchEpochsRequest.ts';

type SubtypeConstructor<Constructor extends new (...args: any) => any, Subtype> = {
  new(...args: ConstructorParameters<Constructor>): Subtype;
};

export interface ProtoGrpcType {
  skein: {
    calls: {
      v1: {
        Answer: MessageTypeDefinition<_skein_calls_v1_AnswerInput, _skein_calls_v1_Answer>
        Call: MessageTypeDefinition<_skein_calls_v1_CallInput, _skein_calls_v1_Call>
      }
    }
    catalog: {
      v1: {
        AbandonCommitReply: MessageTypeDefinition<_skein_catalog_v1_AbandonCommitReplyInput, _skein_catalog_v1_AbandonCommitReply>
        AbandonCommitRequest: MessageTypeDefinition<_skein_catalog_v1_AbandonCommitRequestInput, _skein_catalog_v1_AbandonCommitRequest>
        AbortUploadsReply: MessageTypeDefinition<_skein_catalog_v1_AbortUploadsReplyInput, _skein_catalog_v1_AbortUploadsReply>
        AbortUploadsRequest: MessageTypeDefinition<_skein_catalog_v1_AbortUploadsRequestInput, _skein_catalog_v1_AbortUploadsRequest>
        AccessKey: MessageTypeDefinition<_skein_catalog_v1_AccessKeyInput, _skein_catalog_v1_AccessKey>
        AdlsKey: MessageTypeDefinition<_skein_catalog_v1_AdlsKeyInput, _skein_catalog_v1_AdlsKey>
        AlterCatalogReply: MessageTypeDefinition<_skein_catalog_v1_AlterCatalogReplyInput, _skein_catalog_v1_AlterCatalogReply>
        AlterCatalogRequest: MessageTypeDefinition<_skein_catalog_v1_AlterCatalogRequestInput, _skein_catalog_v1_AlterCatalogRequest>
        AlterTenantReply: MessageTypeDefinition<_skein_catalog_v1_AlterTenantReplyInput, _skein_catalog_v1_AlterTenantReply>
        AlterTenantRequest: MessageTypeDefinition<_skein_catalog_v1_AlterTenantRequestInput, _skein_catalog_v1_AlterTenantRequest>
        AuditPage: MessageTypeDefinition<_skein_catalog_v1_AuditPageInput, _skein_catalog_v1_AuditPage>
        AuthorizeReply: MessageTypeDefinition<_skein_catalog_v1_AuthorizeReplyInput, _skein_catalog_v1_AuthorizeReply>
        AuthorizeRequest: MessageTypeDefinition<_skein_catalog_v1_AuthorizeRequestInput, _skein_catalog_v1_AuthorizeRequest>
        BeginUploadRequest: MessageTypeDefinition<_skein_catalog_v1_BeginUploadRequestInput, _skein_catalog_v1_BeginUploadRequest>
        BucketKey: MessageTypeDefinition<_skein_catalog_v1_BucketKeyInput, _skein_catalog_v1_BucketKey>
        BucketSettings: MessageTypeDefinition<_skein_catalog_v1_BucketSettingsInput, _skein_catalog_v1_BucketSettings>
        CatalogCheck: MessageTypeDefinition<_skein_catalog_v1_CatalogCheckInput, _skein_catalog_v1_CatalogCheck>
        CatalogInternal: SubtypeConstructor<typeof grpc.Client, _skein_catalog_v1_CatalogInternalClient> & { service: _skein_catalog_v1_CatalogInternalDefinition }
        CatalogList: MessageTypeDefinition<_skein_catalog_v1_CatalogListInput, _skein_catalog_v1_CatalogList>
        ChangeList: MessageTypeDefinition<_skein_catalog_v1_ChangeListInput, _skein_catalog_v1_ChangeList>
        CheckCatalogReply: MessageTypeDefinition<_skein_catalog_v1_CheckCatalogReplyInput, _skein_catalog_v1_CheckCatalogReply>
        CheckCatalogRequest: MessageTypeDefinition<_skein_catalog_v1_CheckCatalogRequestInput, _skein_catalog_v1_CheckCatalogRequest>
        ClientList: MessageTypeDefinition<_skein_catalog_v1_ClientListInput, _skein_catalog_v1_ClientList>
        ClientSecret: MessageTypeDefinition<_skein_catalog_v1_ClientSecretInput, _skein_catalog_v1_ClientSecret>
        CommitTablesReply: MessageTypeDefinition<_skein_catalog_v1_CommitTablesReplyInput, _skein_catalog_v1_CommitTablesReply>
        CommitTablesRequest: MessageTypeDefinition<_skein_catalog_v1_CommitTablesRequestInput, _skein_catalog_v1_CommitTablesRequest>
        CreateCatalogReply: MessageTypeDefinition<_skein_catalog_v1_CreateCatalogReplyInput, _skein_catalog_v1_CreateCatalogReply>
        CreateCatalogRequest: MessageTypeDefinition<_skein_catalog_v1_CreateCatalogRequestInput, _skein_catalog_v1_CreateCatalogRequest>
        CreateClientRequest: MessageTypeDefinition<_skein_catalog_v1_CreateClientRequestInput, _skein_catalog_v1_CreateClientRequest>
        CreateTenantReply: MessageTypeDefinition<_skein_catalog_v1_CreateTenantReplyInput, _skein_catalog_v1_CreateTenantReply>
        CreateTenantRequest: MessageTypeDefinition<_skein_catalog_v1_CreateTenantRequestInput, _skein_catalog_v1_CreateTenantRequest>
        Decision: MessageTypeDefinition<_skein_catalog_v1_DecisionInput, _skein_catalog_v1_Decision>
        DescribeCatalogsRequest: MessageTypeDefinition<_skein_catalog_v1_DescribeCatalogsRequestInput, _skein_catalog_v1_DescribeCatalogsRequest>
        DescribedCatalog: MessageTypeDefinition<_skein_catalog_v1_DescribedCatalogInput, _skein_catalog_v1_DescribedCatalog>
        DropCatalogReply: MessageTypeDefinition<_skein_catalog_v1_DropCatalogReplyInput, _skein_catalog_v1_DropCatalogReply>
        DropCatalogRequest: MessageTypeDefinition<_skein_catalog_v1_DropCatalogRequestInput, _skein_catalog_v1_DropCatalogRequest>
        DropClientReply: MessageTypeDefinition<_skein_catalog_v1_DropClientReplyInput, _skein_catalog_v1_DropClientReply>
        DropClientRequest: MessageTypeDefinition<_skein_catalog_v1_DropClientRequestInput, _skein_catalog_v1_DropClientRequest>
        DropTenantReply: MessageTypeDefinition<_skein_catalog_v1_DropTenantReplyInput, _skein_catalog_v1_DropTenantReply>
        DropTenantRequest: MessageTypeDefinition<_skein_catalog_v1_DropTenantRequestInput, _skein_catalog_v1_DropTenantRequest>
        DroppedList: MessageTypeDefinition<_skein_catalog_v1_DroppedListInput, _skein_catalog_v1_DroppedList>
        DroppedTable: MessageTypeDefinition<_skein_catalog_v1_DroppedTableInput, _skein_catalog_v1_DroppedTable>
        EndUploadReply: MessageTypeDefinition<_skein_catalog_v1_EndUploadReplyInput, _skein_catalog_v1_EndUploadReply>
        EndUploadRequest: MessageTypeDefinition<_skein_catalog_v1_EndUploadRequestInput, _skein_catalog_v1_EndUploadRequest>
        EndedSignIn: MessageTypeDefinition<_skein_catalog_v1_EndedSignInInput, _skein_catalog_v1_EndedSignIn>
        Epoch: MessageTypeDefinition<_skein_catalog_v1_EpochInput, _skein_catalog_v1_Epoch>
        EpochList: MessageTypeDefinition<_skein_catalog_v1_EpochListInput, _skein_catalog_v1_EpochList>
        ExportAuditLogRequest: MessageTypeDefinition<_skein_catalog_v1_ExportAuditLogRequestInput, _skein_catalog_v1_ExportAuditLogRequest>
        FindFoldersReply: MessageTypeDefinition<_skein_catalog_v1_FindFoldersReplyInput, _skein_catalog_v1_FindFoldersReply>
        FindFoldersRequest: MessageTypeDefinition<_skein_catalog_v1_FindFoldersRequestInput, _skein_catalog_v1_FindFoldersRequest>
        FindLoadsReply: MessageTypeDefinition<_skein_catalog_v1_FindLoadsReplyInput, _skein_catalog_v1_FindLoadsReply>
        FindLoadsRequest: MessageTypeDefinition<_skein_catalog_v1_FindLoadsRequestInput, _skein_catalog_v1_FindLoadsRequest>
        FindUploadRequest: MessageTypeDefinition<_skein_catalog_v1_FindUploadRequestInput, _skein_catalog_v1_FindUploadRequest>
        GcsKey: MessageTypeDefinition<_skein_catalog_v1_GcsKeyInput, _skein_catalog_v1_GcsKey>
        GetMomentReply: MessageTypeDefinition<_skein_catalog_v1_GetMomentReplyInput, _skein_catalog_v1_GetMomentReply>
        GetMomentRequest: MessageTypeDefinition<_skein_catalog_v1_GetMomentRequestInput, _skein_catalog_v1_GetMomentRequest>
        GetSigningKeysRequest: MessageTypeDefinition<_skein_catalog_v1_GetSigningKeysRequestInput, _skein_catalog_v1_GetSigningKeysRequest>
        JobList: MessageTypeDefinition<_skein_catalog_v1_JobListInput, _skein_catalog_v1_JobList>
        Lease: MessageTypeDefinition<_skein_catalog_v1_LeaseInput, _skein_catalog_v1_Lease>
        LeaseRequest: MessageTypeDefinition<_skein_catalog_v1_LeaseRequestInput, _skein_catalog_v1_LeaseRequest>
        ListCatalogsRequest: MessageTypeDefinition<_skein_catalog_v1_ListCatalogsRequestInput, _skein_catalog_v1_ListCatalogsRequest>
        ListChangesRequest: MessageTypeDefinition<_skein_catalog_v1_ListChangesRequestInput, _skein_catalog_v1_ListChangesRequest>
        ListClientsRequest: MessageTypeDefinition<_skein_catalog_v1_ListClientsRequestInput, _skein_catalog_v1_ListClientsRequest>
        ListDroppedRequest: MessageTypeDefinition<_skein_catalog_v1_ListDroppedRequestInput, _skein_catalog_v1_ListDroppedRequest>
        ListJobsRequest: MessageTypeDefinition<_skein_catalog_v1_ListJobsRequestInput, _skein_catalog_v1_ListJobsRequest>
        ListNamespacesRequest: MessageTypeDefinition<_skein_catalog_v1_ListNamespacesRequestInput, _skein_catalog_v1_ListNamespacesRequest>
        ListRelationsRequest: MessageTypeDefinition<_skein_catalog_v1_ListRelationsRequestInput, _skein_catalog_v1_ListRelationsRequest>
        ListStagesRequest: MessageTypeDefinition<_skein_catalog_v1_ListStagesRequestInput, _skein_catalog_v1_ListStagesRequest>
        ListTablesRequest: MessageTypeDefinition<_skein_catalog_v1_ListTablesRequestInput, _skein_catalog_v1_ListTablesRequest>
        ListTenantsRequest: MessageTypeDefinition<_skein_catalog_v1_ListTenantsRequestInput, _skein_catalog_v1_ListTenantsRequest>
        ListedClient: MessageTypeDefinition<_skein_catalog_v1_ListedClientInput, _skein_catalog_v1_ListedClient>
        LoadTablesReply: MessageTypeDefinition<_skein_catalog_v1_LoadTablesReplyInput, _skein_catalog_v1_LoadTablesReply>
        LoadTablesRequest: MessageTypeDefinition<_skein_catalog_v1_LoadTablesRequestInput, _skein_catalog_v1_LoadTablesRequest>
        LoadedTable: MessageTypeDefinition<_skein_catalog_v1_LoadedTableInput, _skein_catalog_v1_LoadedTable>
        MintTokenReply: MessageTypeDefinition<_skein_catalog_v1_MintTokenReplyInput, _skein_catalog_v1_MintTokenReply>
        MintTokenRequest: MessageTypeDefinition<_skein_catalog_v1_MintTokenRequestInput, _skein_catalog_v1_MintTokenRequest>
        NameList: MessageTypeDefinition<_skein_catalog_v1_NameListInput, _skein_catalog_v1_NameList>
        Namespace: MessageTypeDefinition<_skein_catalog_v1_NamespaceInput, _skein_catalog_v1_Namespace>
        NamespaceList: MessageTypeDefinition<_skein_catalog_v1_NamespaceListInput, _skein_catalog_v1_NamespaceList>
        OpenStageRequest: MessageTypeDefinition<_skein_catalog_v1_OpenStageRequestInput, _skein_catalog_v1_OpenStageRequest>
        ParkedJob: MessageTypeDefinition<_skein_catalog_v1_ParkedJobInput, _skein_catalog_v1_ParkedJob>
        PersonTokens: MessageTypeDefinition<_skein_catalog_v1_PersonTokensInput, _skein_catalog_v1_PersonTokens>
        Policy: MessageTypeDefinition<_skein_catalog_v1_PolicyInput, _skein_catalog_v1_Policy>
        PolicyArgument: MessageTypeDefinition<_skein_catalog_v1_PolicyArgumentInput, _skein_catalog_v1_PolicyArgument>
        PolicyStatementReply: MessageTypeDefinition<_skein_catalog_v1_PolicyStatementReplyInput, _skein_catalog_v1_PolicyStatementReply>
        PolicyStatementRequest: MessageTypeDefinition<_skein_catalog_v1_PolicyStatementRequestInput, _skein_catalog_v1_PolicyStatementRequest>
        Principal: MessageTypeDefinition<_skein_catalog_v1_PrincipalInput, _skein_catalog_v1_Principal>
        PrincipalStatementReply: MessageTypeDefinition<_skein_catalog_v1_PrincipalStatementReplyInput, _skein_catalog_v1_PrincipalStatementReply>
        PrincipalStatementRequest: MessageTypeDefinition<_skein_catalog_v1_PrincipalStatementRequestInput, _skein_catalog_v1_PrincipalStatementRequest>
        RedeemCodeRequest: MessageTypeDefinition<_skein_catalog_v1_RedeemCodeRequestInput, _skein_catalog_v1_RedeemCodeRequest>
        Relation: MessageTypeDefinition<_skein_catalog_v1_RelationInput, _skein_catalog_v1_Relation>
        RelationList: MessageTypeDefinition<_skein_catalog_v1_RelationListInput, _skein_catalog_v1_RelationList>
        RelationPolicy: MessageTypeDefinition<_skein_catalog_v1_RelationPolicyInput, _skein_catalog_v1_RelationPolicy>
        RenewSignInRequest: MessageTypeDefinition<_skein_catalog_v1_RenewSignInRequestInput, _skein_catalog_v1_RenewSignInRequest>
        RescueUserReply: MessageTypeDefinition<_skein_catalog_v1_RescueUserReplyInput, _skein_catalog_v1_RescueUserReply>
        RescueUserRequest: MessageTypeDefinition<_skein_catalog_v1_RescueUserRequestInput, _skein_catalog_v1_RescueUserRequest>
        ResealSecretsReply: MessageTypeDefinition<_skein_catalog_v1_ResealSecretsReplyInput, _skein_catalog_v1_ResealSecretsReply>
        ResealSecretsRequest: MessageTypeDefinition<_skein_catalog_v1_ResealSecretsRequestInput, _skein_catalog_v1_ResealSecretsRequest>
        RetryJobsReply: MessageTypeDefinition<_skein_catalog_v1_RetryJobsReplyInput, _skein_catalog_v1_RetryJobsReply>
        RetryJobsRequest: MessageTypeDefinition<_skein_catalog_v1_RetryJobsRequestInput, _skein_catalog_v1_RetryJobsRequest>
        RevokeSignInReply: MessageTypeDefinition<_skein_catalog_v1_RevokeSignInReplyInput, _skein_catalog_v1_RevokeSignInReply>
        RevokeSignInRequest: MessageTypeDefinition<_skein_catalog_v1_RevokeSignInRequestInput, _skein_catalog_v1_RevokeSignInRequest>
        RotateClientRequest: MessageTypeDefinition<_skein_catalog_v1_RotateClientRequestInput, _skein_catalog_v1_RotateClientRequest>
        RunOperationReply: MessageTypeDefinition<_skein_catalog_v1_RunOperationReplyInput, _skein_catalog_v1_RunOperationReply>
        RunOperationRequest: MessageTypeDefinition<_skein_catalog_v1_RunOperationRequestInput, _skein_catalog_v1_RunOperationRequest>
        SignInReply: MessageTypeDefinition<_skein_catalog_v1_SignInReplyInput, _skein_catalog_v1_SignInReply>
        SignInRequest: MessageTypeDefinition<_skein_catalog_v1_SignInRequestInput, _skein_catalog_v1_SignInRequest>
        SignStageRequestsRequest: MessageTypeDefinition<_skein_catalog_v1_SignStageRequestsRequestInput, _skein_catalog_v1_SignStageRequestsRequest>
        SignedStageRequest: MessageTypeDefinition<_skein_catalog_v1_SignedStageRequestInput, _skein_catalog_v1_SignedStageRequest>
        SignedStageRequests: MessageTypeDefinition<_skein_catalog_v1_SignedStageRequestsInput, _skein_catalog_v1_SignedStageRequests>
        SigningKeys: MessageTypeDefinition<_skein_catalog_v1_SigningKeysInput, _skein_catalog_v1_SigningKeys>
        Stage: MessageTypeDefinition<_skein_catalog_v1_StageInput, _skein_catalog_v1_Stage>
        StageList: MessageTypeDefinition<_skein_catalog_v1_StageListInput, _skein_catalog_v1_StageList>
        StageRequest: MessageTypeDefinition<_skein_catalog_v1_StageRequestInput, _skein_catalog_v1_StageRequest>
        StageTableRequest: MessageTypeDefinition<_skein_catalog_v1_StageTableRequestInput, _skein_catalog_v1_StageTableRequest>
        StageUpload: MessageTypeDefinition<_skein_catalog_v1_StageUploadInput, _skein_catalog_v1_StageUpload>
        StagedFile: MessageTypeDefinition<_skein_catalog_v1_StagedFileInput, _skein_catalog_v1_StagedFile>
        TableList: MessageTypeDefinition<_skein_catalog_v1_TableListInput, _skein_catalog_v1_TableList>
        TableName: MessageTypeDefinition<_skein_catalog_v1_TableNameInput, _skein_catalog_v1_TableName>
        VendKeyReply: MessageTypeDefinition<_skein_catalog_v1_VendKeyReplyInput, _skein_catalog_v1_VendKeyReply>
        VendKeyRequest: MessageTypeDefinition<_skein_catalog_v1_VendKeyRequestInput, _skein_catalog_v1_VendKeyRequest>
        WatchEpochsRequest: MessageTypeDefinition<_skein_catalog_v1_WatchEpochsRequestInput, _skein_catalog_v1_WatchEpochsRequest>
      }
    }
  }
}

