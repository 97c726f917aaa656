// Package process is the process manager.
package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"go.uber.org/zap"

	"github.com/kandev/kandev/internal/agentctl/server/config"
	"github.com/kandev/kandev/internal/agentctl/types"
)

type Manager struct {
	cfg    *config.InstanceConfig
	logger *zap.Logger

	permissionMu       sync.Mutex
	pendingPermissions map[string]chan *types.PermissionResponse
	allocated          atomic.Int64
	Announced          chan string // pending ids
}

func NewManager(cfg *config.InstanceConfig, logger *zap.Logger) *Manager {
	return &Manager{
		cfg:                cfg,
		logger:             logger,
		pendingPermissions: map[string]chan *types.PermissionResponse{},
		Announced:          make(chan string, 16),
	}
}

func (m *Manager) Stop() {}

func (m *Manager) HandlePermissionRequest(ctx context.Context, req *types.PermissionRequest) (*types.PermissionResponse, error) {
	return m.handlePermissionRequest(ctx, req)
}

func (m *Manager) handlePermissionRequest(ctx context.Context, req *types.PermissionRequest) (*types.PermissionResponse, error) {
	if m.cfg.AutoApprovePermissions {
		return m.autoApprovePermission(req)
	}
	return m.waitForPermission(ctx, req)
}

func (m *Manager) autoApprovePermission(req *types.PermissionRequest) (*types.PermissionResponse, error) {
	for _, option := range req.Options {
		if option.Kind == "allow_once" || option.Kind == "allow_always" {
			return &types.PermissionResponse{OptionID: option.OptionID}, nil
		}
	}
	return &types.PermissionResponse{OptionID: req.Options[0].OptionID}, nil
}

// waitForPermission is the pending path, which the guide does not touch.
func (m *Manager) waitForPermission(ctx context.Context, req *types.PermissionRequest) (*types.PermissionResponse, error) {
	id := req.PendingID
	if number := m.allocated.Add(1); id == "" {
		id = fmt.Sprintf("permission-%d", number)
	}
	answer := make(chan *types.PermissionResponse, 1)
	m.permissionMu.Lock()
	m.pendingPermissions[id] = answer
	m.permissionMu.Unlock()
	m.Announced <- id
	select {
	case resp := <-answer:
		return resp, nil
	case <-ctx.Done():
		return &types.PermissionResponse{Cancelled: true}, nil
	}
}

func (m *Manager) RespondToPermission(id, optionID string) error {
	m.permissionMu.Lock()
	defer m.permissionMu.Unlock()
	answer, ok := m.pendingPermissions[id]
	if !ok {
		return errors.New("not pending")
	}
	delete(m.pendingPermissions, id)
	answer <- &types.PermissionResponse{OptionID: optionID}
	return nil
}

// PendingAllocated counts the requests that were ever announced.
func (m *Manager) PendingAllocated() int64 { return m.allocated.Load() }
